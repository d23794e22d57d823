// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Node weights from measured bandwidths, and the kernel's own weights (Linux 6.9), which apply to
// every process with the weighted interleave policy.
#pragma once

#include <nodewise/machine.hpp>

#include "sys/kernel.hpp"

namespace nodewise::kernel_weights {

/// Holds one file per node and, since Linux 6.16, one that shows whether the kernel computes the
/// weights itself.
inline constexpr const char* folder = "/sys/kernel/mm/mempolicy/weighted_interleave";

/// How many consecutive pages go to a node.
struct weight {
  node_id node = unknown_node;
  std::uint32_t value = 1; ///< 1 to 255

  friend bool operator==(const weight&, const weight&) = default;
};

/// Small integers in this proportion, each at least 1; within 2 % where integers up to 255 allow.
/// Bandwidths must be above 0.
[[nodiscard]] std::vector<std::uint32_t> in_proportion(const std::vector<double>& bandwidths);

/// Uses each memory's bandwidth from its own node's processors. If the node has none, or they were
/// not measured, uses the best bandwidth from any node, as Linux uses the nearest initiators of the
/// firmware's HMAT. Throws `error` (input) if a node's bandwidth is not known: nothing is assumed.
[[nodiscard]] std::vector<weight> by_bandwidth(const machine& measured, const node_set& nodes);

/// The same for all nodes with memory.
[[nodiscard]] std::vector<weight> by_bandwidth(const machine& measured);

/// One line per node: "echo 3 > /sys/kernel/mm/mempolicy/weighted_interleave/node0".
[[nodiscard]] std::string shell_lines(std::span<const weight> weights);

/// Writes the weights. Throws `error` (system) at the first refusal, with its errno and a hint. The
/// weights written before it get their old values back; the error names those that do not.
void apply_weights(sys::kernel& to, std::span<const weight> weights);

} // namespace nodewise::kernel_weights
