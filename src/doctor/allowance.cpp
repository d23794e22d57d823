// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/allowance.hpp"

#include "doctor/text.hpp"

namespace nodewise::doctor {

namespace {

template <class Set>
std::optional<Set> within(const std::optional<Set>& some, const std::optional<Set>& all) {
  return some && all ? std::optional(*some & *all) : some;
}

} // namespace

std::optional<node_set> allowance::usable_nodes() const {
  const auto& there = nodes_with_memory ? nodes_with_memory : nodes_online;
  return there ? within(there, nodes_allowed) : nodes_allowed;
}

bool allowance::several_nodes() const {
  const auto usable = usable_nodes();
  return !usable || usable->size() > 1;
}

allowance read_allowance(sys::kernel& from) {
  allowance found;
  found.cpus_online = read_set<cpu_id>(from, "/sys/devices/system/cpu/online");
  found.nodes_online = read_set<node_id>(from, "/sys/devices/system/node/online");
  // These files may still list a node that went offline.
  found.nodes_with_memory =
      within(read_set<node_id>(from, "/sys/devices/system/node/has_memory"), found.nodes_online);
  found.nodes_with_cpus =
      within(read_set<node_id>(from, "/sys/devices/system/node/has_cpu"), found.nodes_online);
  const auto status = from.read_file("/proc/self/status");
  found.cpus_allowed =
      within(parse_set<cpu_id>(field(status.value, "Cpus_allowed_list")), found.cpus_online);
  found.nodes_allowed =
      within(parse_set<node_id>(field(status.value, "Mems_allowed_list")), found.nodes_online);
  found.group = read_cpuset(from);
  found.group.cpus = within(found.group.cpus, found.cpus_online);
  found.group.nodes = within(found.group.nodes, found.nodes_online);
  return found;
}

} // namespace nodewise::doctor
