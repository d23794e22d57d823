// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "traffic/counts.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace nodewise::traffic {

std::string_view to_string(phase when) noexcept {
  return when == phase::use ? "use" : "init";
}

std::string_view phase_name(phase when) noexcept {
  return when == phase::use ? "use" : "initialisation";
}

std::string_view to_string(object_kind what) noexcept {
  constexpr std::array<std::string_view, 6> names = {"heap",  "map",    "static",
                                                     "group", "region", "other"};
  return names[static_cast<std::size_t>(what)];
}

volume& volume::operator+=(const volume& other) noexcept {
  fills += other.fills;
  write_backs += other.write_backs;
  streams += other.streams;
  return *this;
}

node_id counts::node_of(cpu_id cpu) const noexcept {
  const auto found = std::ranges::lower_bound(processors, cpu, {}, &processor::cpu);
  return found != processors.end() && found->cpu == cpu ? found->node : unknown_node;
}

const object* counts::find_object(process_key pid, object_id id) const noexcept {
  const std::pair wanted(pid, id);
  const auto key = [](const object& o) { return std::pair(o.pid, o.id); };
  const auto found = std::ranges::lower_bound(objects, wanted, {}, key);
  return found != objects.end() && key(*found) == wanted ? &*found : nullptr;
}

const mapping* counts::find_mapping(process_key pid, std::uint64_t address) const noexcept {
  const auto rank = [](const mapping& m) {
    return m.name.empty() ? 2 : m.name == stack_of_thread ? 1 : 0;
  };
  const mapping* found = nullptr;
  for (const mapping& m : mappings) {
    const bool covers = m.pid == pid && m.start <= address && address < m.end;
    if (covers && (found == nullptr || rank(m) <= rank(*found))) { // later entries are newer
      found = &m;
    }
  }
  return found;
}

const program* counts::find_program(process_key pid) const noexcept {
  const auto found = std::ranges::find(programs, pid, &program::pid);
  return found == programs.end() ? nullptr : &*found;
}

bool counts::was_killed(const program& which) const noexcept {
  return which.pid != 0 && !which.ended && std::ranges::none_of(programs, [&](const program& p) {
           return pid_of(p.pid) == pid_of(which.pid) && p.pid > which.pid;
         });
}

} // namespace nodewise::traffic
