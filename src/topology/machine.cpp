// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/machine.hpp>

#include <algorithm>

#include "topology/part_sets.hpp"

namespace nodewise::inline v0 {

const memory_node* machine::find_node(node_id id) const noexcept {
  const auto it = std::ranges::find(nodes, id, &memory_node::id);
  return it == nodes.end() ? nullptr : &*it;
}

cpu_set machine::cpus() const {
  return cpus_of_all(nodes) | cpus_of_all(cores);
}

node_set machine::node_ids() const {
  return nodes_if(*this, [](const memory_node&) { return true; });
}

std::optional<int> machine::distance(node_id from, node_id to) const noexcept {
  const memory_node* const row = find_node(from);
  const memory_node* const column = find_node(to);
  if (row == nullptr || column == nullptr || distances.empty()) {
    return std::nullopt;
  }
  return distances[static_cast<std::size_t>(row - nodes.data())]
                  [static_cast<std::size_t>(column - nodes.data())];
}

} // namespace nodewise::inline v0
