// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What there is to measure on a machine, as values: nothing here takes memory or time, so that the
// whole of it can be looked at on machines that nobody has.
#pragma once

#include <cstddef>
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
  /// The arrays' nodes: one, or several in turn by 2 MiB.
  std::vector<node_id> memory;
  std::vector<std::uint32_t> weights; ///< one for each of `memory`; none: even
  std::uint64_t bytes = 0;            ///< of all arrays of all threads together
  /// For each array another node than `memory`, by its position; not known ones are as `memory`.
  std::vector<node_id> array_nodes = {};
};

struct stream_work {
  std::vector<stream_group> groups; ///< all at the same time
};

struct chase_work {
  cpu_id cpu{};
  node_id memory = unknown_node;
  std::uint64_t bytes = 0;
  std::optional<stream_group> beside = {}; ///< what others do meanwhile
  unsigned pauses = 0; ///< of those others after each 4 KiB, in PAUSE instructions (YIELD on Arm)
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
  node_id from = unknown_node; ///< of processors, where one node is meant
  node_id to = unknown_node;   ///< of memory, where one node is meant
  page_size pages = page_size::automatic;
  measure::work work;
};

/// "GB/s" (10^9) or "ns".
[[nodiscard]] std::string_view unit_of(const point& what) noexcept;
/// Whether a larger figure is the better one.
[[nodiscard]] bool more_is_better(const point& what) noexcept;

struct scope {
  std::vector<experiment> experiments;        ///< in the order of the enumeration
  std::uint64_t bytes = 0;                    ///< of the buffers; 0: by caches and memory
  page_size pages = page_size::automatic;     ///< of all but `touch` and `migration`
  std::vector<std::string_view> kernels = {}; ///< for `kernels`; none: STREAM's four
  memory_to_have memory = {};
};

/// In the order in which they are to be measured. Only allowed processors (the first hardware
/// thread of each core) and nodes are used. What cannot be here is left out: `loaded_latency` needs
/// two cores of a node, `transfer` two cores, `migration` two memories, and "by weight" of
/// `interleave` bandwidths, known before or among `what`. Throws `error` (usage) if there are none,
/// or for a kernel that is not there.
[[nodiscard]] std::vector<point> plan_points(const topology& on, const scope& what);

} // namespace nodewise::measure
