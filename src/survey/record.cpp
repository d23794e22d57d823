// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "survey/record.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "topology/part_sets.hpp"

namespace nodewise::survey {

cpu_set host_machine::cpus() const {
  return cpus_of_all(nodes);
}

node_set host_machine::nodes_of(const cpu_set& these) const {
  node_set found;
  for (const node& each : nodes) {
    if (each.cpus.intersects(these)) {
      found.insert(each.id);
    }
  }
  return found;
}

host_machine host_machine_of(const machine& all) {
  host_machine made;
  for (const memory_node& each : all.nodes) {
    const auto holder = std::ranges::find_if(all.packages, [&](const package& package) {
      return !each.cpus.empty() && package.cpus.includes(each.cpus);
    });
    made.nodes.push_back(
        {each.id, each.cpus, holder == all.packages.end() ? -1 : std::max(holder->id, -1)});
  }
  made.cores = sets_of(all.cores);
  return made;
}

std::string id_of(const host_machine& which) {
  std::string text;
  for (const host_machine::node& each : which.nodes) {
    text += fmt::format("{}:{}:{};", to_int(each.id), each.cpus.to_string(), each.package);
  }
  text += joined(which.cores, " ", [](const cpu_set& core) { return core.to_string(); });
  // FNV-1a: equal machines must have equal names; no attack is feared.
  std::uint64_t hash = 14695981039346656037U;
  for (const char each : text) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 1099511628211U;
  }
  return fmt::format("{:016x}", hash);
}

} // namespace nodewise::survey
