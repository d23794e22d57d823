// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The points that experiments measure on a machine, and the memory that points need. All are
// values: nothing here allocates or measures, so tests can plan for machines they do not run on.
#pragma once

#include <map>
#include <variant>

#include <nodewise/placement.hpp>
#include <nodewise/topology.hpp>

#include "measure/experiments.hpp"
#include "measure/kernels.hpp"

namespace nodewise::measure {

[[nodiscard]] std::optional<experiment> parse_experiment(std::string_view name) noexcept;

/// The experiments of a run of less than half a minute, and those of a run without a limit.
[[nodiscard]] std::vector<experiment> quick_set();
[[nodiscard]] std::vector<experiment> full_set();

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

  [[nodiscard]] node_id node_of_array(std::size_t k) const noexcept {
    return k < array_nodes.size() ? array_nodes[k] : unknown_node;
  }
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

/// What a point uses at one time.
struct point_needs {
  std::vector<cpu_id> threads;              ///< the processor of each
  std::uint64_t bytes = 0;                  ///< of all buffers, except those used beside a chase
  std::map<node_id, std::uint64_t> by_node; ///< bytes of everything
};
[[nodiscard]] point_needs needs_of(const work& does);

[[nodiscard]] cpu_set set_of(std::span<const cpu_id> cpus);

/// "GB/s" (10^9) or "ns".
[[nodiscard]] std::string_view unit_of(const point& what) noexcept;

inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

/// The memory that may be allocated, as far as it is known.
struct memory_to_have {
  /// By position in `machine().nodes`: free memory plus the page cache that can be evicted.
  std::vector<std::optional<std::uint64_t>> by_node = {};
  std::optional<std::uint64_t> together = {}; ///< room in the control group, over all nodes

  /// For the node at this position; all of its memory if the free memory is unknown.
  [[nodiscard]] std::uint64_t of(const memory_node& node, std::size_t position) const;
};

/// Four times the last-level caches of the whole machine, and at least 64 MiB: smaller buffers may
/// measure the caches.
[[nodiscard]] std::uint64_t enough_bytes(const topology& on);

/// The same for these processors: counts only the caches that they reach.
[[nodiscard]] std::uint64_t enough_bytes(const topology& on, const cpu_set& cpus);

/// The same for a chain that one core follows: at least 256 MiB, beyond the reach of second-level
/// translation buffers, but never more than for the whole machine.
[[nodiscard]] std::uint64_t enough_for_a_chain(const topology& on, cpu_id cpu);

/// A quarter of what the smallest allowed memory can give: room for a point's two buffers and more.
[[nodiscard]] std::uint64_t most_bytes(const topology& on, const memory_to_have& memory);

struct scope {
  std::vector<experiment> experiments;        ///< in the order of the enumeration
  std::uint64_t bytes = 0;                    ///< of the buffers; 0: chosen by caches and memory
  page_size pages = page_size::automatic;     ///< of experiments without `has_own_pages`
  std::vector<std::string_view> kernels = {}; ///< for `kernels`; none: STREAM's four
  memory_to_have memory = {};
};

/// The points in the order of measurement. Uses only allowed processors (the first hardware thread
/// of each core) and nodes. Skips what this machine cannot do: `loaded_latency` needs two cores of
/// a node, `transfer` two cores, `migration` two memories, and "by weight" of `interleave` needs
/// bandwidths, known before or measured by `what`. Throws `error` (usage) if no point is left, or
/// for an unknown kernel.
[[nodiscard]] std::vector<point> plan_points(const topology& on, const scope& what);

/// Throws `error` (usage) naming the first point whose buffers do not fit into `memory`: without
/// memory for them, the kernel would swap or kill processes.
void require_memory(const topology& on, std::span<const point> points,
                    const memory_to_have& memory);

} // namespace nodewise::measure
