// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "traffic/counts.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace nodewise::traffic {

std::string_view to_string(phase when) noexcept {
  return when == phase::use ? "use" : "init";
}

std::string_view phase_name(phase when) noexcept {
  return when == phase::use ? "use" : "initialisation";
}

std::string_view to_string(object_kind what) noexcept {
  constexpr std::array names = {"heap", "map", "static", "group", "region", "file", "other"};
  return names[static_cast<std::size_t>(what)];
}

volume& volume::operator+=(const volume& other) noexcept {
  fills += other.fills;
  write_backs += other.write_backs;
  streams += other.streams;
  return *this;
}

node_id counts::node_of(cpu_id cpu) const noexcept {
  const auto found = std::ranges::equal_range(processors, cpu, {}, &processor::cpu);
  return found.empty() ? unknown_node : found.front().node;
}

const object* counts::find_object(process_key pid, object_id id) const noexcept {
  const auto key = [](const object& o) { return std::pair(o.pid, o.id); };
  const auto found = std::ranges::equal_range(objects, std::pair(pid, id), {}, key);
  return found.empty() ? nullptr : &found.front();
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

void locality::add(node_id from, node_id to, std::uint64_t lines) noexcept {
  if (from == unknown_node || to == unknown_node) {
    unknown += lines;
  } else if (from == to) {
    local += lines;
  } else {
    remote += lines;
  }
}

locality& locality::operator+=(const locality& other) noexcept {
  local += other.local;
  remote += other.remote;
  unknown += other.unknown;
  return *this;
}

std::optional<double> locality::share() const noexcept {
  return total() == 0 ? std::nullopt
                      : std::optional(static_cast<double>(local) / static_cast<double>(total()));
}

bool is_worse(const locality& a, const locality& b) noexcept {
  return std::pair(a.remote + a.unknown, a.local) > std::pair(b.remote + b.unknown, b.local);
}

phase_totals totals(const counts& of, phase when) {
  phase_totals all;
  for (const cell& c : of.cells) {
    if (c.when == when) {
      all.where.add(of.node_of(c.cpu), c.to, c.lines.asked());
      all.lines += c.lines;
      all.dirty += c.dirty;
    }
  }
  return all;
}

phase judged_phase(const counts& of) {
  constexpr std::uint64_t hardly = 100; // the end of every process is use
  const std::uint64_t use = totals(of, phase::use).where.total();
  const std::uint64_t before = totals(of, phase::initialisation).where.total();
  return use != 0 && use >= before / hardly ? phase::use : phase::initialisation;
}

std::uint64_t node_matrix::total() const noexcept {
  return std::accumulate(lines.begin(), lines.end(), std::uint64_t{0});
}

node_matrix node_by_node(const counts& of, phase when) {
  std::set<node_id> from;
  std::set<node_id> to(of.memories.begin(), of.memories.end());
  for (const processor& p : of.processors) {
    from.insert(p.node);
  }
  std::map<site::way, std::uint64_t> lines;
  for (const cell& c : of.cells) {
    if (c.when == when && c.lines.asked() != 0) {
      from.insert(of.node_of(c.cpu));
      to.insert(c.to);
      lines[{of.node_of(c.cpu), c.to}] += c.lines.asked();
    }
  }
  node_matrix all{{from.begin(), from.end()}, {to.begin(), to.end()}, {}};
  for (const node_id row : all.from) {
    for (const node_id column : all.to) {
      all.lines.push_back(lines[{row, column}]);
    }
  }
  return all;
}

std::vector<memory_load> memory_loads(const counts& of, std::optional<phase> when) {
  std::map<node_id, std::uint64_t> lines;
  for (const node_id node : of.memories) {
    lines[node] = 0;
  }
  for (const cell& c : of.cells) {
    if (!when || c.when == *when) {
      lines[c.to] += c.lines.moved();
    }
  }
  lines.erase(unknown_node);
  std::vector<memory_load> all;
  for (const auto& [node, sum] : lines) {
    all.push_back({node, sum});
  }
  return all;
}

std::optional<double> imbalance(const std::vector<memory_load>& loads) {
  std::uint64_t sum = 0;
  std::uint64_t most = 0;
  for (const memory_load& load : loads) {
    sum += load.lines;
    most = std::max(most, load.lines);
  }
  if (sum == 0) {
    return std::nullopt;
  }
  return static_cast<double>(most) * static_cast<double>(loads.size()) / static_cast<double>(sum);
}

locality site::where(phase when) const noexcept {
  locality all;
  for (const auto& [from_to, lines] : flows[index_of(when)]) {
    all.add(from_to.first, from_to.second, lines.asked());
  }
  return all;
}

site site_of(const object& which) {
  return {.kind = which.kind,
          .module = which.module,
          .offset = which.offset,
          .name = which.name,
          .pid = which.pid};
}

std::vector<site> sites_of(const counts& of) {
  std::map<site::identity, site> by_key;
  const auto site_for = [&](const object& which) -> site& {
    const site its = site_of(which);
    return by_key.try_emplace(its.key(), its).first->second;
  };
  const auto site_with = [&](process_key pid, std::optional<object_id> id) -> site& {
    if (const object* const found = id ? of.find_object(pid, *id) : nullptr) {
      return site_for(*found);
    }
    site& rest = by_key[site().key()];
    rest.pid = pid;
    return rest;
  };
  for (const object& each : of.objects) {
    site& to = site_for(each);
    ++to.objects;
    to.freed += each.freed ? 1 : 0;
    to.bytes += each.bytes;
  }
  for (const object_traffic& t : of.by_object) {
    site_with(t.pid, t.object).flows[index_of(t.when)][{t.from, t.to}] += t.lines;
  }
  for (const page_run& run : of.pages) {
    site_with(run.pid, run.object).pages[run.to] += run.count;
  }
  std::vector<site> all;
  for (auto& [key, each] : by_key) {
    all.push_back(std::move(each));
  }
  const phase judged = judged_phase(of);
  std::ranges::sort(all, [&](const site& a, const site& b) {
    const locality of_a = a.where(judged);
    const locality of_b = b.where(judged);
    return is_worse(of_a, of_b) || (!is_worse(of_b, of_a) && a.key() < b.key());
  });
  return all;
}

} // namespace nodewise::traffic
