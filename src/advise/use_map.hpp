// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From who used which pages to a map that a plan can hold.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "advise/analysis_input.hpp"
#include "plan/plan.hpp"

namespace nodewise::advise {

/// One part for each of the first so many threads.
[[nodiscard]] std::vector<plans::part_run> equal_parts(std::size_t threads);
/// One part for each of these, by number.
[[nodiscard]] std::vector<plans::part_run> parts_for(const std::vector<std::size_t>& threads);

class use_map {
 public:
  use_map(const analysis_input& of, const item& what, const std::vector<std::size_t>& homes);

  /// Threads with at least a tenth of the mean thread's use, by number, each once, ascending.
  [[nodiscard]] const std::vector<std::size_t>& users() const noexcept { return users_; }
  /// The thread with most use of the node with most.
  [[nodiscard]] std::optional<std::size_t> greatest_user() const;

  struct run_list {
    std::vector<plans::part_run> runs;
    double lost = 0; ///< 0..1 of the use: on another node than by the exact map
  };
  /// Each page to a thread of the node that it belongs to; what several nodes use about alike is
  /// dealt out among these in blocks. At most about `most_runs` runs, coarsened where there are
  /// more. What a page's traffic is depends on what the caches happen to hold, whose it is does
  /// not: little use tells the owner nearly as well as much, a page alone among those of another
  /// node follows them, unless an index deals pages out to threads, and what the main thread uses
  /// of every page alike is a pass of its own.
  [[nodiscard]] run_list parts(std::size_t most_runs) const;
  /// Each page to the node that used most of it, whatever its neighbours are.
  [[nodiscard]] std::vector<plans::part_run> page_by_page() const;
  /// 0..1 of that evidence: for nodes whose own memory this map has the pages not on.
  [[nodiscard]] double misplaced(const analysis_input& of, const model::page_map& map) const;

 private:
  /// Pages in a row that are used alike.
  struct stretch {
    std::size_t first = 0;
    std::size_t last = 0;
    double main = 0;             ///< use by the main thread
    std::vector<double> use;     ///< by node
    std::vector<double> claims;  ///< of the nodes on these pages: see `parts`
    std::size_t owner = nowhere; ///< node; `nowhere`: several nodes alike
    bool is_weak = false;        ///< little was fetched: most of it was in caches

    [[nodiscard]] double pages() const noexcept { return static_cast<double>(last - first); }
    /// A part of what is used of another one.
    void add(const stretch& other, double part);
  };
  void read(const analysis_input& of, const item& what, const std::vector<std::size_t>& homes);
  void weigh_claims(std::size_t home_of_main);
  [[nodiscard]] double cost_of_change() const;
  [[nodiscard]] std::vector<stretch> on_grid(std::size_t cells) const;
  void find_owners(std::vector<stretch>& of) const;
  [[nodiscard]] std::vector<stretch> owned(std::size_t most) const;
  [[nodiscard]] std::vector<std::size_t> sharing(const stretch& of) const;
  [[nodiscard]] bool belong_together(const stretch& one, const stretch& other) const;

  std::size_t pages_ = 0;
  std::vector<stretch> stretches_;
  std::vector<double> by_node_;
  std::vector<std::size_t> thread_of_node_; ///< number of the greatest user; `nowhere`
  std::vector<std::size_t> users_;
  double claims_a_page_ = 0;
};

} // namespace nodewise::advise
