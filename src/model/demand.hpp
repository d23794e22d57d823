// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From a thread's mix of traffic to what a byte of it takes of each shared part of the machine.
// Resources: memories by position, then links.
#pragma once

#include <cstddef>
#include <vector>

#include "model/costs.hpp"
#include "model/fair_share.hpp"
#include "model/traffic.hpp"

namespace nodewise::model {

/// Of the memories and the links, in this order.
[[nodiscard]] std::vector<double> capacities_of(const machine_costs& on);

/// For a byte of this mix, moved by a processor of the node; the bytes must not all be 0.
[[nodiscard]] std::vector<resource_use> uses_of(const machine_costs& on, std::size_t node,
                                                const thread_traffic& mix);

/// For a byte of this mix: how much longer than a byte of its own memory it holds a line of the
/// core's, 1 or more. Little's law: lines in flight over latency is a bandwidth.
[[nodiscard]] double core_use(const machine_costs& on, std::size_t node, const thread_traffic& mix);

/// Throws `error` (input) where traffic goes to a node without memory.
void check_memories(const machine_costs& on, const traffic& what);

} // namespace nodewise::model
