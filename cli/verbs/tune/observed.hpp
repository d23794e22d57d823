// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What was seen of the runs besides their figures: noise, and starting conditions that differed.
#pragma once

#include <map>
#include <utility>

#include "cli/verbs/tune/view.hpp"
#include "sys/timed_program.hpp"

namespace nodewise::cli {

/// Under which conditions runs started: the free memory of each node, and the page cache.
class conditions_watch {
 public:
  /// `watches_others`: whether nothing but the program is started between the two calls.
  explicit conditions_watch(bool watches_others) : watches_others_(watches_others) {}

  void before_run(const machine& of);
  void after_run(const sys::timed_end& run);
  /// A sentence for each node whose free memory differed by more than a tenth of its memory, one if
  /// the page cache did not hold the files of all runs, and one if other programs ran.
  [[nodiscard]] std::vector<std::string> remarks() const;

 private:
  struct seen {
    std::uint64_t total = 0;
    std::uint64_t least = 0;
    std::uint64_t most = 0;
  };
  bool watches_others_;
  std::map<node_id, seen> nodes_;
  std::size_t runs_ = 0;
  std::size_t disk_runs_ = 0;
  std::uint64_t most_disk_bytes_ = 0;
  std::optional<double> busy_before_; ///< seconds of all processors
  double seconds_ = 0;                ///< of all runs
  double others_seconds_ = 0;         ///< of processors, meanwhile
};

/// Adds sentences to the result's remarks.
void add_observations(tuned& to, const conditions_watch& conditions);

} // namespace nodewise::cli
