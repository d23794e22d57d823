// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "survey/memory.hpp"

#include "survey/threads.hpp"

namespace nodewise::survey {

node_set thread_nodes(const rank_record& rank, const host_machine& on) {
  cpu_set ran;
  for (const worker& each : rank.workers) {
    ran = ran | each.ran;
  }
  return on.nodes_of(ran.empty() ? reach_of(rank) : ran);
}

double thread_share(const rank_record& rank, const host_machine& on, node_id node) {
  double sum = 0;
  for (const worker& each : rank.workers) {
    const node_set its = on.nodes_of(each.ran.empty() ? each.allowed : each.ran);
    sum += its.contains(node) ? 1.0 / static_cast<double>(its.size()) : 0;
  }
  return rank.workers.empty() ? 1 : sum / static_cast<double>(rank.workers.size());
}

memory_use memory_of(const rank_record& rank, const host_machine& on) {
  const node_set near = thread_nodes(rank, on);
  memory_use made;
  for (const host_machine::node& node : on.nodes) {
    const auto found = rank.bytes.find(node.id);
    if (found == rank.bytes.end() || node.cpus.empty()) {
      continue;
    }
    made.known += found->second;
    made.away += near.contains(node.id) ? 0 : found->second;
    if (found->second > made.on_fullest) {
      made.fullest = node.id;
      made.on_fullest = found->second;
    }
  }
  return made;
}

} // namespace nodewise::survey
