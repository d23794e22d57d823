// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <nodewise/machine.hpp>

namespace nodewise {

/// The nodes of a machine that a condition holds for.
template <class Condition>
[[nodiscard]] node_set nodes_if(const machine& of, Condition condition) {
  node_set nodes;
  for (const memory_node& node : of.nodes) {
    if (std::invoke(condition, node)) {
      nodes.insert(node.id);
    }
  }
  return nodes;
}

/// The processors of each part that has any.
template <class Parts>
[[nodiscard]] std::vector<cpu_set> sets_of(const Parts& parts) {
  std::vector<cpu_set> sets;
  for (const auto& part : parts) {
    if (!part.cpus.empty()) {
      sets.push_back(part.cpus);
    }
  }
  return sets;
}

/// All processors of the parts of a machine: nodes, cores, packages.
template <class Parts>
[[nodiscard]] cpu_set cpus_of_all(const Parts& parts) {
  cpu_set cpus;
  for (const auto& part : parts) {
    cpus = std::move(cpus) | part.cpus;
  }
  return cpus;
}

} // namespace nodewise
