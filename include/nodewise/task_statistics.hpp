// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How many tasks ran, where, and how far the stolen ones came.
//
//     nodewise::task_statistics of_two_runs{.at_home = 30, .elsewhere = 10, .stolen_nearest = 12};
//     of_two_runs += {.at_home = 60, .stolen_node = 5};
//     std::puts(nodewise::to_string(of_two_runs).c_str());
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nodewise/export.hpp>

namespace nodewise::inline v0 {

/// What became of tasks. A task is stolen if another worker runs it than the one that spawned it,
/// or another node's than the one that it was sent to.
struct task_statistics {
  std::uint64_t at_home = 0;   ///< tasks with a home that ran on that node
  std::uint64_t elsewhere = 0; ///< tasks with a home that ran on another node
  std::uint64_t homeless = 0;  ///< tasks without a home
  std::uint64_t dropped = 0;   ///< tasks of cancelled groups that did not run; counted nowhere else
  std::uint64_t stolen_core = 0;    ///< from another worker of the same core
  std::uint64_t stolen_node = 0;    ///< from another core of the same node
  std::uint64_t stolen_nearest = 0; ///< from a nearest node
  std::uint64_t stolen_farther = 0; ///< from a node that is farther away

  /// Adds other statistics.
  task_statistics& operator+=(const task_statistics& more) noexcept {
    at_home += more.at_home;
    elsewhere += more.elsewhere;
    homeless += more.homeless;
    dropped += more.dropped;
    stolen_core += more.stolen_core;
    stolen_node += more.stolen_node;
    stolen_nearest += more.stolen_nearest;
    stolen_farther += more.stolen_farther;
    return *this;
  }
  /// Returns the number of tasks that ran.
  [[nodiscard]] std::uint64_t tasks() const noexcept { return at_home + elsewhere + homeless; }
  /// Returns the number of tasks that were stolen from another node.
  [[nodiscard]] std::uint64_t stolen_between_nodes() const noexcept {
    return stolen_nearest + stolen_farther;
  }
  /// Returns the share of the tasks with a home that ran there, 0..1; nullopt if there were none.
  [[nodiscard]] std::optional<double> locality() const noexcept {
    const std::uint64_t all = at_home + elsewhere;
    return all == 0 ? std::nullopt
                    : std::optional(static_cast<double>(at_home) / static_cast<double>(all));
  }
  friend bool operator==(const task_statistics&, const task_statistics&) = default;
};

/// Returns the statistics as text: "90 tasks, 75.0 % of 40 at home; 17 stolen: 0 from the same
/// core, 5 from the same node, 12 from the nearest, 0 from farther".
[[nodiscard]] NODEWISE_API std::string to_string(const task_statistics& of);

} // namespace nodewise::inline v0
