// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From which threads used which pages to a map that a plan can hold.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "advise/analysis_input.hpp"
#include "model/page_map.hpp"
#include "placement/placement.hpp"

namespace nodewise::advise {

/// One part for each of the first `threads` threads.
[[nodiscard]] std::vector<placements::owner_run> equal_parts(std::size_t threads);
/// One part for each of these threads, by number.
[[nodiscard]] std::vector<placements::owner_run> parts_for(const positions& threads);

class use_map {
 public:
  use_map(const analysis_input& of, const item& what, const positions& homes);

  /// Threads with at least a tenth of the mean thread's use, by number, each once, ascending.
  [[nodiscard]] const positions& users() const noexcept { return users_; }
  /// The thread with most use on the node with most use.
  [[nodiscard]] std::optional<std::size_t> greatest_user() const;

  struct run_list {
    std::vector<placements::owner_run> runs;
    double lost = 0; ///< 0..1 of the use: on another node than in the exact map
  };
  /// Gives each page to a thread of the node that owns it. Pages that several nodes use about alike
  /// are dealt out among these in blocks. At most about `most_runs` runs; more are coarsened. A
  /// page's traffic depends on what the caches hold, its owner does not: little use shows the owner
  /// almost as well as much use. A single page among those of another node follows them, unless an
  /// index deals pages out to threads. What the main thread uses of every page alike counts as a
  /// separate pass.
  [[nodiscard]] run_list parts(std::size_t most_runs) const;
  /// Gives each page to the node that used most of it, regardless of its neighbours. Of nodes that
  /// used it alike, the one that owns the page before or has fewest pages so far gets it.
  [[nodiscard]] std::vector<placements::owner_run> page_by_page() const;
  /// 0..1 of the claims: by nodes whose own memory does not have the pages under this map.
  [[nodiscard]] double misplaced(const analysis_input& of, const model::page_map& map) const;

 private:
  /// Consecutive pages that are used alike.
  struct stretch {
    std::size_t first = 0;
    std::size_t last = 0;
    double main = 0;             ///< use by the main thread
    std::vector<double> use;     ///< by node
    std::vector<double> claims;  ///< of the nodes on these pages: see `parts`
    std::size_t owner = nowhere; ///< node; `nowhere`: several nodes alike
    bool is_weak = false;        ///< few lines were fetched: most were in caches

    [[nodiscard]] double pages() const noexcept { return static_cast<double>(last - first); }
    /// Adds this share of the other stretch's use.
    void add(const stretch& other, double part);
  };
  void read(const analysis_input& of, const item& what, const positions& homes);
  void weigh_claims(std::size_t home_of_main);
  [[nodiscard]] double cost_of_change() const;
  [[nodiscard]] std::vector<stretch> on_grid(std::size_t cells) const;
  void find_owners(std::vector<stretch>& of) const;
  [[nodiscard]] std::vector<stretch> owned(std::size_t most) const;
  [[nodiscard]] positions sharing(const stretch& of) const;

  std::size_t pages_ = 0;
  std::vector<stretch> stretches_;
  std::vector<double> by_node_;
  positions thread_of_node_; ///< number of the greatest user; `nowhere`
  positions users_;
  double claims_a_page_ = 0;
};

} // namespace nodewise::advise
