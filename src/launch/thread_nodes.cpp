// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The nodes of the threads that memory must be close to.
#include <fmt/core.h>

#include "launch/planning.hpp"

namespace nodewise::launch {

std::vector<node_id> owners_of_threads(const planning& now, const std::string& asked) {
  const plan& so_far = now.into;
  if (!so_far.layout && now.here.domains().size() > 1) {
    now.cannot(asked, "without --bind its threads may run anywhere", "give --bind close",
               "memory is placed as for threads bound close");
  }
  std::vector<node_id> nodes = so_far.layout ? so_far.layout->owners() : close_layout(now).owners();
  const node_set usable = now.here.memory_nodes();
  for (const node_id node : nodes) {
    if (!usable.contains(node)) {
      throw error(error_kind::usage, fmt::format("memory of node {}", node),
                  fmt::format("threads run there, but this process may only use memory of {}",
                              usable.to_string()),
                  "choose nodes with memory by -N");
    }
  }
  return nodes;
}

node_set nodes_of_threads(const planning& now) {
  node_set nodes;
  if (now.into.layout) {
    for (const thread_place& thread : now.into.layout->threads()) {
      if (thread.node != unknown_node) {
        nodes.insert(thread.node);
      }
    }
  }
  if (nodes.empty()) {
    for (const domain& each : now.here.domains()) {
      nodes.insert(each.node);
    }
  }
  const node_set with_memory = nodes & now.here.memory_nodes();
  return with_memory.empty() ? now.here.memory_nodes() : with_memory;
}

} // namespace nodewise::launch
