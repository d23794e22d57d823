// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Computes how much of each shared part of the machine a byte of a thread's traffic uses.
// Resources: memories by position, then links.
#pragma once

#include <cstddef>
#include <vector>

#include "model/costs.hpp"
#include "model/fair_share.hpp"
#include "model/traffic.hpp"

namespace nodewise::model {

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
