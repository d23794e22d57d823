// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What was seen of the runs besides their figures: noise, and starting conditions that differed.
#pragma once

#include <map>
#include <utility>

#include "cli/verbs/tune/view.hpp"

namespace nodewise::cli {

/// Under which conditions runs started: the free memory of each node, and the page cache.
class conditions_watch {
 public:
  void before_run(const machine& of);
  /// `disk_bytes`: what the run read from disks.
  void after_run(std::uint64_t disk_bytes);
  /// A sentence for each node whose free memory differed by more than a tenth of its memory, and
  /// one if the page cache did not hold the files of all runs.
  [[nodiscard]] std::vector<std::string> remarks() const;

 private:
  struct seen {
    std::uint64_t total = 0;
    std::uint64_t least = 0;
    std::uint64_t most = 0;
  };
  std::map<node_id, seen> nodes_;
  std::size_t runs_ = 0;
  std::size_t disk_runs_ = 0;
  std::uint64_t most_disk_bytes_ = 0;
};

/// Adds sentences to the result's remarks.
void add_observations(tuned& to, const conditions_watch& conditions);

} // namespace nodewise::cli
