// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What an access costs on a machine, as far as its file says: the capacities that traffic shares.
// docs/model.md explains each term.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <nodewise/id.hpp>
#include <nodewise/id_set.hpp>
#include <nodewise/machine.hpp>

#include "model/figure.hpp"

namespace nodewise::model {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

/// What the published bandwidth between a node's processors and a memory is the limit of. One
/// figure cannot tell; a measured `core_bandwidth` or `shared_efficiency` can.
enum class hypothesis {
  memory,     ///< memory controllers and links: processors could draw more
  processors, ///< the lines that processors have in flight: memories could give more
};

/// What data of one node crosses on its way to another.
struct link {
  std::size_t from = 0; ///< position of the node that data comes from
  std::size_t to = 0;
  /// A figure for all that processors of `to` read from and write to the memory of `from`, where
  /// nobody has measured the directions, or which ways share a wire.
  bool is_path = false;
  figure bytes_per_s;
};

/// Part of the data between two nodes goes over this link; shortest ways share it evenly.
struct route_part {
  std::size_t link = 0; ///< position in `machine_costs::links`
  double share = 1;
};
using route = std::vector<route_part>;

/// The hardware threads of one core share what it can have in flight.
struct core_unit {
  std::size_t node = 0; ///< position
  std::vector<cpu_id> cpus;
};

/// Everywhere a node is meant by its position in `nodes`.
struct machine_costs {
  std::vector<node_id> nodes; ///< ascending
  std::vector<figure> memory; ///< bytes/s that the node's memory can move; 0 without memory
  std::vector<figure> shared_efficiency; ///< 0..1: what is left of it if all processors use it
  std::vector<double> near_share; ///< of all cores, those for which this memory is the near one
  std::vector<figure> core;       ///< bytes/s that a core of the node draws from its own memory
  std::vector<figure> latency;    ///< row: from, column: to; 1 is the nearest memory
  std::vector<std::optional<figure>> local_latency_s; ///< seconds, of a node's nearest memory
  figure lines_in_flight;                             ///< of a core, in random access
  std::vector<char> near; ///< row: from, column: to; whether it is the near memory
  std::vector<link> links;
  std::vector<route> read_ways;  ///< row: processors, column: the memory they read
  std::vector<route> write_ways; ///< row: processors, column: the memory they write
  std::vector<core_unit> cores;
  /// Whether any bandwidth is known. If not, every memory has 1 and only ratios mean something.
  bool absolute = false;
  std::vector<std::string>
      remarks; ///< what is not known and how it was filled in; one sentence each

  [[nodiscard]] std::size_t size() const noexcept { return nodes.size(); }
  [[nodiscard]] std::optional<std::size_t> position_of(node_id node) const noexcept;
  /// Position of the core in `cores`.
  [[nodiscard]] std::optional<std::size_t> core_of(cpu_id cpu) const noexcept;
  [[nodiscard]] double latency_ratio(std::size_t from, std::size_t to) const {
    return latency[from * size() + to].value;
  }
  [[nodiscard]] bool is_near(std::size_t from, std::size_t to) const {
    return near[from * size() + to] != 0;
  }
  /// What moving a byte for a far processor costs the memory, in bytes for a near one; 1 or more.
  [[nodiscard]] double far_work(std::size_t memory_at) const noexcept;
};

/// From the machine's `parameters`; where these are silent, what is assumed is marked so. Throws
/// `error` (input) for a machine without processors or memory and for figures that are no figures.
[[nodiscard]] machine_costs costs_of(const machine& what,
                                     hypothesis bandwidths_are_of = hypothesis::memory);

/// For each node the nearest of these memories, itself if it is one: where first touch by its
/// processors puts pages. Itself also where none of them has memory.
[[nodiscard]] std::vector<std::size_t> nearest_memory(const machine_costs& on,
                                                      const node_set& usable);

} // namespace nodewise::model
