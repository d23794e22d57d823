// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The experiments that measure a machine's memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace nodewise::measure {

enum class experiment {
  bandwidth,      ///< processors of one node, memory of one node: a matrix
  latency,        ///< the same for dependent loads
  contention,     ///< all processors of the machine, one memory
  kernels,        ///< every kernel, all processors, each its own node's memory
  interleave,     ///< memory interleaved over the nodes, evenly and by weight, against local
  scaling,        ///< threads inside a node, then nodes
  mixes,          ///< of loads and stores
  loaded_latency, ///< latency while others use up bandwidth
  transfer,       ///< a line from core to core
  touch,          ///< memory touched for the first time
  migration,      ///< pages moved from node to node
};
inline constexpr std::size_t experiments = 11;

/// The name in options and files, such as "loaded-latency".
[[nodiscard]] std::string_view to_string(experiment of) noexcept;
[[nodiscard]] std::optional<experiment> parse_experiment(std::string_view name) noexcept;
/// What it measures, in one line.
[[nodiscard]] std::string_view explain(experiment of) noexcept;

/// The experiments of a run of less than half a minute, and those of a run without a limit.
[[nodiscard]] std::vector<experiment> quick_set();
[[nodiscard]] std::vector<experiment> full_set();

} // namespace nodewise::measure
