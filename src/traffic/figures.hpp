// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Figures derived from a count without any names.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "traffic/counts.hpp"

namespace nodewise::traffic {

/// Lines by the location of their memory, as seen from the requesting processor.
struct locality {
  std::uint64_t local = 0;
  std::uint64_t remote = 0;
  std::uint64_t unknown = 0; ///< of a processor or memory whose node is unknown

  void add(node_id from, node_id to, std::uint64_t lines) noexcept;
  locality& operator+=(const locality& other) noexcept;
  [[nodiscard]] std::uint64_t total() const noexcept { return local + remote + unknown; }
  /// 0..1; unknown lines count as not local. nullopt if no lines were requested.
  [[nodiscard]] std::optional<double> share() const noexcept;
};

struct phase_totals {
  locality where; ///< of `lines.asked()`
  volume lines;
  std::uint64_t dirty = 0;
};
[[nodiscard]] phase_totals totals(const counts& of, phase when);

/// The phase by which a run is judged: use, or initialisation if use is less than a hundredth.
[[nodiscard]] phase judged_phase(const counts& of);

/// Lines requested by the processors of a node (row) from the memory of another (column).
struct node_matrix {
  std::vector<node_id> from; ///< ascending; `unknown_node` first, if it occurs
  std::vector<node_id> to;
  std::vector<std::uint64_t> lines; ///< by row

  [[nodiscard]] std::uint64_t at(std::size_t row, std::size_t column) const {
    return lines[row * to.size() + column];
  }
  [[nodiscard]] std::uint64_t total() const noexcept;
};
[[nodiscard]] node_matrix node_by_node(const counts& of, phase when);

/// The load of one memory: lines moved.
struct memory_load {
  node_id node = unknown_node;
  std::uint64_t lines = 0;
};
/// One per memory, ascending. Without a phase: of both.
[[nodiscard]] std::vector<memory_load> memory_loads(const counts& of, std::optional<phase> when);
/// The busiest memory over the mean of all, from 1 (even) to their number; nullopt without traffic.
[[nodiscard]] std::optional<double> imbalance(const std::vector<memory_load>& loads);

/// Objects that one place in the code allocated, or a static array, in all processes.
struct site {
  object_kind kind = object_kind::other;
  std::string module; ///< as in `object`
  std::uint64_t offset = 0;
  std::string name;    ///< of a static array
  process_key pid = 0; ///< one of the processes that have it
  std::uint64_t objects = 0;
  std::uint64_t freed = 0;
  std::uint64_t bytes = 0; ///< of all of them
  using identity = std::tuple<object_kind, std::string, std::uint64_t, std::string>;
  [[nodiscard]] identity key() const { return {kind, module, offset, name}; }
  using way = std::pair<node_id, node_id>;
  std::array<std::map<way, volume>, phases> flows = {}; ///< from a node's processors to a memory
  std::map<node_id, std::uint64_t> pages = {};          ///< by the memory they are in

  [[nodiscard]] locality where(phase when) const noexcept;
};
/// The site of the object, without any counts.
[[nodiscard]] site site_of(const object& which);
/// Worst first: by remote lines in the phase that is judged, then by all lines.
[[nodiscard]] std::vector<site> sites_of(const counts& of);

/// Whether `a` ranks before `b`.
[[nodiscard]] bool is_worse(const locality& a, const locality& b) noexcept;

} // namespace nodewise::traffic
