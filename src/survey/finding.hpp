// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What is wrong with the placement of a job, and the line that fixes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "survey/job.hpp"

namespace nodewise::survey {

/// In the order in which findings are shown.
enum class fault {
  other_shape,        ///< other numbers of hosts, ranks or threads than the user expects
  rank_failed,        ///< a rank ended by a signal or with another code than 0
  rank_missing,       ///< a rank without a record
  host_differs,       ///< hardware or settings are not those of most hosts
  ranks_share,        ///< threads of several ranks have fewer processors than threads
  threads_share,      ///< the same, threads of one rank
  hardware_threads,   ///< threads share cores while other cores are idle
  unbound,            ///< threads may move between nodes
  spans_nodes,        ///< a rank's threads are on more nodes than necessary
  nodes_idle,         ///< no thread may run on a node
  memory_away,        ///< a rank's memory is on nodes where none of its threads are
  memory_on_one_node, ///< a rank's threads are on several nodes, its memory on one
  network_far,        ///< nodes near the network device are idle, the ranks are on others
};
/// "ranks share processors": as in JSON and texts.
[[nodiscard]] std::string_view name_of(fault which) noexcept;

struct finding {
  fault what = fault::unbound;
  std::string evidence;           ///< "4 threads on 1 processor"
  std::vector<int> ranks;         ///< ascending; empty if it concerns whole hosts
  std::vector<std::string> hosts; ///< in the order of the job's

  friend bool operator==(const finding&, const finding&) = default;
};

/// All findings, by their kind. Equal findings of several hosts are one.
[[nodiscard]] std::vector<finding> judge(const job& of);

/// What a fix needs to know of a job: its usual host.
struct job_shape {
  std::size_t ranks = 1;   ///< on a host
  std::size_t workers = 1; ///< of a rank
  std::size_t nodes = 1;   ///< with processors
  std::size_t packages = 1;
  std::size_t cores = 1; ///< of a host

  /// Whole cores for each rank.
  [[nodiscard]] std::size_t cores_of_rank() const noexcept {
    return ranks == 0 ? cores : cores / ranks;
  }
};
[[nodiscard]] job_shape shape_of(const job& of);

/// One way to fix a finding.
struct fix {
  std::string meaning; ///< "with Open MPI"
  std::string line;    ///< to type; PROGRAM stands for the program; empty: the meaning is advice

  friend bool operator==(const fix&, const fix&) = default;
};
/// `launcher`: as `job::launcher`.
[[nodiscard]] std::vector<fix> fixes_of(fault what, std::string_view launcher,
                                        const job_shape& shape);

} // namespace nodewise::survey
