// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Numbers of nodes and of processors, as types of their own: the operating system's numbers.
#pragma once

namespace nodewise::inline v0 {

/// A NUMA node, by the operating system's number as `numactl -H` prints it; never a position in a
/// list. Numbers may have gaps and need not start at 0.
enum class node_id : int {};

/// A processor (hardware thread), by the operating system's number.
enum class cpu_id : int {};

/// "Which node?" when nobody can say. No node has this number; unknown is never node 0.
inline constexpr node_id unknown_node{-1};

/// The number itself.
[[nodiscard]] constexpr int to_int(node_id id) noexcept {
  return static_cast<int>(id);
}
[[nodiscard]] constexpr int to_int(cpu_id id) noexcept {
  return static_cast<int>(id);
}

} // namespace nodewise::inline v0
