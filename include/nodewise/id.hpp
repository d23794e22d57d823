// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Types for the numbers of nodes and of processors, as the operating system assigns them.
//
//     const nodewise::node_id node{1};
//     if (node != nodewise::unknown_node) {
//       std::printf("node %d\n", nodewise::to_int(node));
//     }
#pragma once

namespace nodewise::inline v0 {

/// A NUMA node, by the operating system's number as `numactl -H` prints it; never a position in a
/// list. Numbers may have gaps and need not start at 0.
enum class node_id : int {};

/// A processor (hardware thread), by the operating system's number.
enum class cpu_id : int {};

/// The value for an unknown node. No node has this number; unknown is never node 0.
inline constexpr node_id unknown_node{-1};

/// Returns the number.
[[nodiscard]] constexpr int to_int(node_id id) noexcept {
  return static_cast<int>(id);
}
[[nodiscard]] constexpr int to_int(cpu_id id) noexcept {
  return static_cast<int>(id);
}

/// Lets {fmt} from 9.1 on print ids as their numbers: `fmt::format("node {}", node)`.
[[nodiscard]] constexpr int format_as(node_id id) noexcept {
  return to_int(id);
}
[[nodiscard]] constexpr int format_as(cpu_id id) noexcept {
  return to_int(id);
}

} // namespace nodewise::inline v0
