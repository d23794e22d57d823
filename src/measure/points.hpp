// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The points to measure on a machine, as values: nothing here allocates or measures, so tests can
// plan for machines that they do not run on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nodewise/id.hpp>
#include <nodewise/placement.hpp>
#include <nodewise/topology.hpp>

#include "measure/buffers.hpp"
#include "measure/experiment.hpp"
#include "measure/kernels.hpp"

namespace nodewise::measure {

/// Threads that run one kernel over arrays of their own.
struct stream_group {
  const kernel* does = nullptr;
  std::vector<cpu_id> cpus; ///< a thread on each
  /// The arrays' nodes: one, or several interleaved in blocks of 2 MiB.
  std::vector<node_id> memory;
  std::vector<std::uint32_t> weights; ///< one for each of `memory`; empty: equal
  std::uint64_t bytes = 0;            ///< of all arrays of all threads together
  /// By position, the node of each array if it differs from `memory`; unknown_node: as `memory`.
  std::vector<node_id> array_nodes = {};
};

struct stream_work {
  std::vector<stream_group> groups; ///< all at the same time
};

struct chase_work {
  cpu_id cpu{};
  node_id memory = unknown_node;
  std::uint64_t bytes = 0;
  std::optional<stream_group> beside = {}; ///< what other threads do meanwhile
  unsigned pauses = 0; ///< of those threads after each 4 KiB, in PAUSE instructions (YIELD on Arm)
};

struct transfer_work {
  cpu_id first{};
  cpu_id second{};
  node_id memory = unknown_node; ///< the line's home
};

struct touch_work {
  std::vector<cpu_id> cpus;
  node_id memory = unknown_node;
  std::uint64_t bytes = 0;
};

struct migration_work {
  cpu_id cpu{};
  node_id from = unknown_node;
  node_id to = unknown_node;
  std::uint64_t bytes = 0;
};

using work = std::variant<stream_work, chase_work, transfer_work, touch_work, migration_work>;

/// One figure of an experiment.
struct point {
  experiment of = experiment::bandwidth;
  /// Unique in its experiment, and the same on every run: "node 0 -> node 1", "triad".
  std::string label;
  node_id from = unknown_node; ///< node of the processors, if it is one
  node_id to = unknown_node;   ///< node of the memory, if it is one
  page_size pages = page_size::automatic;
  measure::work work;
};

[[nodiscard]] cpu_set set_of(std::span<const cpu_id> cpus);

/// "GB/s" (10^9) or "ns".
[[nodiscard]] std::string_view unit_of(const point& what) noexcept;
/// Whether a larger figure is better.
[[nodiscard]] bool more_is_better(const point& what) noexcept;

struct scope {
  std::vector<experiment> experiments;        ///< in the order of the enumeration
  std::uint64_t bytes = 0;                    ///< of the buffers; 0: chosen by caches and memory
  page_size pages = page_size::automatic;     ///< of all but `touch` and `migration`
  std::vector<std::string_view> kernels = {}; ///< for `kernels`; none: STREAM's four
  memory_to_have memory = {};
};

/// The points in the order of measurement. Uses only allowed processors (the first hardware thread
/// of each core) and nodes. Skips what this machine cannot do: `loaded_latency` needs two cores of
/// a node, `transfer` two cores, `migration` two memories, and "by weight" of `interleave` needs
/// bandwidths, known before or measured by `what`. Throws `error` (usage) if no point is left, or
/// for an unknown kernel.
[[nodiscard]] std::vector<point> plan_points(const topology& on, const scope& what);

} // namespace nodewise::measure
