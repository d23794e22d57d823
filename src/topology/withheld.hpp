// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nodewise/topology.hpp>

#include "topology/part_sets.hpp"

namespace nodewise {

/// Whether a node has memory that this process may not use. The kernel never lists a node without
/// memory as allowed (Mems_allowed), so such a node must not be reported as "not allowed".
[[nodiscard]] inline bool is_withheld(const topology& from, const memory_node& node) {
  return node.memory_bytes != 0 && !from.allowed_nodes().contains(node.id);
}

/// All withheld nodes.
[[nodiscard]] inline node_set withheld_nodes(const topology& from) {
  return nodes_if(from.machine(), [&](const memory_node& node) { return is_withheld(from, node); });
}

} // namespace nodewise
