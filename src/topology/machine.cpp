// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/machine.hpp>

#include <algorithm>

namespace nodewise::inline v0 {

const memory_node* machine::find_node(node_id id) const noexcept {
  const auto it = std::find_if(nodes.begin(), nodes.end(),
                               [id](const memory_node& node) { return node.id == id; });
  return it == nodes.end() ? nullptr : &*it;
}

cpu_set machine::cpus() const {
  cpu_set all;
  for (const memory_node& node : nodes) {
    all = std::move(all) | node.cpus;
  }
  for (const core& each : cores) {
    all = std::move(all) | each.cpus;
  }
  return all;
}

node_set machine::node_ids() const {
  node_set all;
  for (const memory_node& node : nodes) {
    all.insert(node.id);
  }
  return all;
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
