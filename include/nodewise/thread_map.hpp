// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Groups the threads of a layout into teams, one for each node. It starts no threads, so a loop's
// work can be computed for any machine.
//
//     const auto machine = nodewise::topology::synthetic("4x2"); // four nodes of two cores
//     const nodewise::team_layout layout(machine, nodewise::bind_policy::close);
//     const nodewise::thread_map threads(machine, layout);
//     for (const nodewise::node_team& team : threads.teams()) {
//       std::printf("node %d: %zu workers\n", nodewise::to_int(team.node), team.workers.size());
//     }
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <nodewise/team_layout.hpp>

namespace nodewise::inline v0 {

/// A thread of a layout, as passed to the bodies of loops.
struct worker {
  std::size_t number = 0;  ///< thread k of the layout
  std::size_t team = 0;    ///< position in `thread_map::teams`
  std::size_t in_team = 0; ///< 0 .. workers of the team - 1
  node_id node = unknown_node;

  friend bool operator==(const worker&, const worker&) = default;
};

/// The workers of one node.
struct node_team {
  node_id node = unknown_node;
  cpu_set cpus;                     ///< all processors that its workers may run on
  std::vector<std::size_t> workers; ///< their numbers, ascending
};

/// The workers of a layout, and their teams: one for each node that has workers.
class NODEWISE_API thread_map {
 public:
  /// Groups the threads of `layout` by node. Throws `error` (usage) if a thread may run on several
  /// nodes, because it has no home node then.
  thread_map(const topology& where, const team_layout& layout);

  /// Returns the machine that the threads are laid out on.
  [[nodiscard]] const nodewise::machine& machine() const noexcept { return machine_; }
  /// Returns the workers, by number.
  [[nodiscard]] std::span<const worker> workers() const noexcept { return workers_; }
  /// Returns the teams, ascending by node.
  [[nodiscard]] std::span<const node_team> teams() const noexcept { return teams_; }
  /// Returns the places that the workers are bound to, by worker number.
  [[nodiscard]] std::span<const thread_place> places() const noexcept { return places_; }
  /// Returns the other teams (as positions in `teams`), in groups of equal firmware distance,
  /// nearest first; one group if no distances are published.
  [[nodiscard]] std::span<const std::vector<std::size_t>> others(std::size_t team) const noexcept {
    return others_[team];
  }
  /// Returns the other workers of the core that a worker is bound to, ascending; none if its place
  /// is more than a core.
  [[nodiscard]] std::vector<std::size_t> others_on_core(std::size_t worker) const;
  /// Returns the teams nearest to a node (as positions in `teams`): its own, or for a node without
  /// workers all at the smallest distance; all teams if no distance is known.
  [[nodiscard]] std::vector<std::size_t> nearest_to(node_id node) const;
  /// Returns the node of each worker in order: the owners of a `blocked` distribution, whose blocks
  /// match the workers' parts to within a page.
  [[nodiscard]] std::vector<node_id> owners() const;

 private:
  [[nodiscard]] int distance(node_id from, node_id to) const noexcept;

  nodewise::machine machine_;
  std::vector<worker> workers_;
  std::vector<thread_place> places_;
  std::vector<node_team> teams_;
  std::vector<std::size_t> cores_; ///< by worker: the position of its core in `machine_`
  std::vector<std::vector<std::vector<std::size_t>>> others_; ///< by team, by distance
};

/// The old name of `thread_map`.
using roster [[deprecated("use thread_map")]] = thread_map;

} // namespace nodewise::inline v0
