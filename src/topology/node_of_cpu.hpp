// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nodewise/machine.hpp>

namespace nodewise {

/// The node that the processor belongs to, or `unknown_node`.
[[nodiscard]] inline node_id node_of_cpu(const machine& on, cpu_id cpu) noexcept {
  for (const memory_node& node : on.nodes) {
    if (node.cpus.contains(cpu)) {
      return node.id;
    }
  }
  return unknown_node;
}

} // namespace nodewise
