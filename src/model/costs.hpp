// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The costs of accesses on a machine, from the figures of its file: the capacities that traffic
// shares. docs/model.md explains each term.
#pragma once

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <nodewise/machine.hpp>

namespace nodewise::model {

/// How a number was obtained, the most reliable first.
enum class origin {
  measured,  ///< on that machine, by the author of its file
  published, ///< by its maker or in a paper
  given,     ///< by the user
  assumed,   ///< by nodewise, if nothing better is known
};
[[nodiscard]] std::string_view to_string(origin from) noexcept;

struct figure {
  double value = 0;
  origin from = origin::assumed;
  std::string source; ///< where the value comes from
};

/// A parameter that the model knows, and the factor that turns its unit into bytes/s or seconds.
struct known_parameter {
  std::string_view name;
  std::string_view unit;
  double scale;
};
inline constexpr std::array known_parameters = {
    known_parameter{"bandwidth", "GB/s", 1e9},
    known_parameter{"latency", "ns", 1e-9},
    known_parameter{"shared_bandwidth", "GB/s", 1e9},
    known_parameter{"core_bandwidth", "GB/s", 1e9},
    known_parameter{"link_bandwidth", "GB/s", 1e9},
    known_parameter{"shared_efficiency", "ratio", 1},
    known_parameter{"lines_in_flight", "lines", 1},
};

/// Nodes are given by their position in the machine.
class file_figures {
 public:
  /// Throws `error` (input) for a known name with another unit, or a value that is not finite and
  /// above 0. Ignores parameters of other names.
  explicit file_figures(const machine& of);

  [[nodiscard]] std::optional<figure> find(std::string_view name, std::size_t from,
                                           std::size_t to) const;
  /// The first figure of this name, of any nodes.
  [[nodiscard]] std::optional<figure> any(std::string_view name) const;

  std::vector<std::string> unknown; ///< names that the model does not know, perhaps misspelt

 private:
  std::map<std::tuple<std::string_view, std::size_t, std::size_t>, figure> figures_;
};

/// Figures of pairs of nodes. Row: from, column: to.
using pair_figures = std::vector<std::optional<figure>>;
/// Gives each pair without a figure the one of the first pair with the same distance in the
/// firmware's table, marked as assumed.
[[nodiscard]] pair_figures with_assumed(pair_figures known, const machine& of);

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

/// What limits the published bandwidth between a node's processors and a memory. One figure does
/// not show it; a measured `core_bandwidth` or `shared_efficiency` does.
enum class hypothesis {
  memory,     ///< memory controllers and links: processors could draw more
  processors, ///< the lines that processors have in flight: memories could give more
};

/// A connection that data of one node crosses on its way to another.
struct link {
  std::size_t from = 0; ///< position of the node that data comes from
  std::size_t to = 0;
  /// True if the figure is the sum of what processors of `to` read from and write to the memory of
  /// `from`: the directions, and which ways share a wire, were not measured.
  bool is_path = false;
  figure bytes_per_s;
};

/// A link and the share of the data between two nodes that crosses it; shortest ways share evenly.
struct route_part {
  std::size_t link = 0; ///< position in `machine_costs::links`
  double share = 1;
};
using route = std::vector<route_part>;
/// The routes of data from each node to each other over the fewest links. Equally short ways share
/// the data evenly, so renumbering nodes renumbers the routes. Empty from a node to itself and if
/// there is no way. Row: from, column: to.
[[nodiscard]] std::vector<route> shortest_routes(std::size_t nodes, const std::vector<link>& links);

/// A core. Its hardware threads share the lines that it can have in flight.
struct core_unit {
  std::size_t node = 0; ///< position
  std::vector<cpu_id> cpus;
};

/// A remark of `machine_costs`.
inline constexpr std::string_view core_is_unknown =
    "the bandwidth of one core is unknown: no limit is assumed";

/// Nodes are given by their position in `nodes`.
struct machine_costs {
  std::vector<node_id> nodes; ///< ascending
  std::vector<figure> memory; ///< bytes/s that the node's memory can move; 0 without memory
  std::vector<figure> shared_efficiency; ///< 0..1: share of it left if all processors use it
  std::vector<double> near_share; ///< share of all cores for which this memory is the near one
  std::vector<figure> core;       ///< bytes/s that a core of the node draws from its own memory
  std::vector<figure> latency;    ///< row: from, column: to; 1 is the nearest memory
  std::vector<std::optional<figure>> local_latency_s; ///< seconds, of a node's nearest memory
  figure lines_in_flight;                             ///< of a core, in random access
  std::vector<char> near; ///< row: from, column: to; whether it is the near memory
  std::vector<link> links;
  std::vector<route> read_ways;  ///< row: processors, column: the memory they read
  std::vector<route> write_ways; ///< row: processors, column: the memory they write
  std::vector<core_unit> cores;
  /// Whether any bandwidth is known. If not, every memory has 1 and only ratios are meaningful.
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
  /// The memory's work for a byte of a far processor, in bytes of a near one; 1 or more.
  [[nodiscard]] double far_work(std::size_t memory_at) const noexcept;
};

/// Reads the machine's `parameters`; missing ones are assumed, and marked as assumed. Throws
/// `error` (input) for a machine without processors or memory and for invalid figures.
[[nodiscard]] machine_costs costs_of(const machine& what,
                                     hypothesis bandwidths_are_of = hypothesis::memory);

/// For each node, the nearest of the `usable` memories (itself if it is one): first touch by its
/// processors puts pages there. The node itself if none of them has memory.
[[nodiscard]] std::vector<std::size_t> nearest_memory(const machine_costs& on,
                                                      const node_set& usable);

} // namespace nodewise::model
