// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Sets of the parts of a machine, and checks that apply to every machine, from whatever source.
#pragma once

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include <nodewise/topology.hpp>

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

/// Whether a node has memory that this process may not use. The kernel never lists a node without
/// memory as allowed (Mems_allowed), so such a node must not be reported as "not allowed".
[[nodiscard]] inline bool is_withheld(const topology& from, const memory_node& node) {
  return node.memory_bytes != 0 && !from.allowed_nodes().contains(node.id);
}

/// All withheld nodes.
[[nodiscard]] inline node_set withheld_nodes(const topology& from) {
  return nodes_if(from.machine(), [&](const memory_node& node) { return is_withheld(from, node); });
}

/// The node that the processor belongs to, or `unknown_node`.
[[nodiscard]] inline node_id node_of_cpu(const machine& on, cpu_id cpu) noexcept {
  const auto found = std::ranges::find_if(
      on.nodes, [cpu](const memory_node& node) { return node.cpus.contains(cpu); });
  return found == on.nodes.end() ? unknown_node : found->id;
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

/// Nothing is nearer to a node than itself. A firmware table that says otherwise is useless: it
/// would send work away from its data.
[[nodiscard]] inline bool is_nearest_to_itself(const std::vector<int>& row, std::size_t own) {
  return row[own] > 0 && std::ranges::min(row) == row[own];
}

/// Removes an invalid table of distances and adds a note.
inline void drop_senseless_distances(machine& all) {
  for (std::size_t i = 0; i < all.distances.size(); ++i) {
    if (!is_nearest_to_itself(all.distances[i], i)) {
      all.distances.clear();
      all.notes.emplace_back("distances are skipped: the firmware's table puts a node nearer to "
                             "another than to itself");
      return;
    }
  }
}

/// The order of caches: by level, kind and first processor.
inline void sort_caches(std::vector<cache>& caches) {
  std::ranges::sort(caches, {}, [](const cache& each) {
    return std::tuple(each.level, each.kind, each.cpus.first());
  });
}

} // namespace nodewise
