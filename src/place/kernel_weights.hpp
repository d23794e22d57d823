// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Weights of nodes by measured bandwidths, and the kernel's own (Linux 6.9), which hold for every
// process whose policy is weighted interleave.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nodewise/id_set.hpp>
#include <nodewise/machine.hpp>

#include "sys/kernel.hpp"

namespace nodewise::kernel_weights {

/// A file a node, and since Linux 6.16 one that says whether the kernel computes them itself.
inline constexpr const char* folder = "/sys/kernel/mm/mempolicy/weighted_interleave";

/// How many pages in a row go to a node.
struct weight {
  node_id node = unknown_node;
  std::uint32_t value = 1; ///< 1 to 255

  friend bool operator==(const weight&, const weight&) = default;
};

/// Small whole numbers in this proportion, within 2 % where numbers up to 255 allow, each at least
/// 1. Bandwidths are above 0.
[[nodiscard]] std::vector<std::uint32_t> in_proportion(const std::vector<double>& bandwidths);

/// By each memory's bandwidth as its own processors have it; of a node without processors, or whose
/// own were not measured, by the best that any have: what Linux takes of the firmware's HMAT, the
/// bandwidth of the nearest initiators. Throws `error` (input) if a node's bandwidth is not known:
/// nothing is assumed.
[[nodiscard]] std::vector<weight> by_bandwidth(const machine& measured, const node_set& nodes);

/// The same of all nodes with memory.
[[nodiscard]] std::vector<weight> by_bandwidth(const machine& measured);

/// A line a node: "echo 3 > /sys/kernel/mm/mempolicy/weighted_interleave/node0".
[[nodiscard]] std::string shell_lines(std::span<const weight> weights);

/// Writes them. Throws `error` (system) at the first refusal, with its errno and what to do; those
/// that were written before it have their old values then, or the error says which have not.
void apply_weights(sys::kernel& to, std::span<const weight> weights);

} // namespace nodewise::kernel_weights
