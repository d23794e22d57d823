// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Counted traffic under another setting: on other cores, or from other memories. The sum of bytes
// read and the sum of bytes written do not change, since the caches are not modelled.
#pragma once

#include <span>

#include "model/traffic.hpp"

namespace nodewise::model {

/// Which share of its bytes a thread moves from and to each memory. Row: the position of the
/// thread's node, column: that of the memory. A row adds up to 1.
using memory_shares = std::vector<std::vector<double>>;

/// Each node's threads use one memory. `memory_of`: a memory for each node (`nearest_memory`).
[[nodiscard]] memory_shares shares_on(std::span<const std::size_t> memory_of);
/// All threads use the memories in these proportions, which must not all be 0.
[[nodiscard]] memory_shares shares_by(const machine_costs& on, std::vector<double> weights);

/// The same threads with their bytes spread over the memories by these shares.
[[nodiscard]] traffic placed(const machine_costs& on, const traffic& what,
                             const memory_shares& by_node);
/// The same threads with each memory's bytes moved to another memory: `memory_of[n]` instead of n.
[[nodiscard]] traffic moved(const traffic& what, std::span<const std::size_t> memory_of);
/// Divides the traffic over one thread on each of these cores. As many threads as before: the k-th
/// thread keeps the work of the k-th. Another number: all have equal parts. No memory moves more
/// or less than before.
[[nodiscard]] traffic divided(const traffic& what, std::span<const std::size_t> cores);
/// Of two traffics of the same threads, `part` (0..1) of the second and the rest of the first.
[[nodiscard]] traffic mixed(const traffic& first, const traffic& second, double part);

/// A processor that moved less than this part of the busiest one's bytes is not a thread of its
/// own: the kernel moved a thread there for a moment.
inline constexpr double least_of_a_thread = 0.01;
/// The traffic with the bytes of such processors added to the busiest one.
[[nodiscard]] traffic threads_of(traffic what);

/// The share of the bytes, 0..1, that threads moved from and to another memory than `memory_of`
/// their node; 0 without traffic.
[[nodiscard]] double share_elsewhere(const machine_costs& on, const traffic& what,
                                     std::span<const std::size_t> memory_of);
/// How much of the traffic a single thread moved: 0 if all of `threads` moved the same, 1 if one
/// moved everything, or if there is one thread. `what` must not be empty.
[[nodiscard]] double concentration(const traffic& what, std::size_t threads);

} // namespace nodewise::model
