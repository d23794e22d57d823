// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How many bytes each thread moves between each memory and its processor, without their order, and
// how much of each shared part of the machine they use. Resources: memories by position, then
// links.
#pragma once

#include "model/costs.hpp"
#include "model/fair_share.hpp"

namespace nodewise::model {

/// What one thread moves. Its mix is assumed to be the same from its beginning to its end.
struct thread_traffic {
  std::size_t core = 0;        ///< position in `machine_costs::cores`
  std::vector<double> read;    ///< bytes from each memory, by position
  std::vector<double> written; ///< bytes to each memory
  double most = unlimited;     ///< bytes/s that it would move if memory cost nothing
};

struct traffic {
  std::vector<thread_traffic> threads;
};

/// A thread that has moved nothing, on a machine with this number of nodes.
[[nodiscard]] thread_traffic idle_thread(std::size_t core, std::size_t nodes);
[[nodiscard]] double sum_of(const std::vector<double>& values) noexcept;
[[nodiscard]] double total_bytes(const thread_traffic& of) noexcept;
[[nodiscard]] double total_bytes(const traffic& of) noexcept;

/// The capacities of the memories and the links, in this order.
[[nodiscard]] std::vector<double> capacities_of(const machine_costs& on);

/// What a byte of this mix uses if a processor of the node moves it; the bytes must not all be 0.
/// `core`: the resource of its core; `own_limit`: none.
[[nodiscard]] std::vector<resource_use> uses_of(const machine_costs& on, std::size_t node,
                                                const thread_traffic& mix, std::size_t core);

/// How much longer a byte of this mix holds a line of the core than a byte of the core's own memory
/// does; 1 or more. Little's law: lines in flight over latency is a bandwidth.
[[nodiscard]] double core_use(const machine_costs& on, std::size_t node, const thread_traffic& mix);

/// Throws `error` (input) if traffic goes to a node without memory.
void check_memories(const machine_costs& on, const traffic& what);

} // namespace nodewise::model
