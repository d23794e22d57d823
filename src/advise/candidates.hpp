// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Possible placements of objects' pages, and where the pages would then be.
#pragma once

#include "advise/shape.hpp"
#include "placement/placement.hpp"

namespace nodewise::advise {

/// Thread numbers are those of a plan.
struct candidate {
  placements::placement where = {};
  double lost = 0; ///< 0..1 of the use: cost of having fewer parts than the exact map
  /// 0..1: see `use_map::misplaced`; only where it is known.
  double misplaced = 0;
};

/// Objects that are placed alike: all or some objects of one site.
struct assignment {
  std::size_t site = 0;
  positions items;
  candidate how;
};

/// By item; those of no assignment stay as they are.
[[nodiscard]] std::vector<candidate> candidates_by_item(const analysis_input& of,
                                                        const std::vector<assignment>& all);

/// Where the pages of an object would be.
[[nodiscard]] model::page_map map_under(const analysis_input& of, const item& what,
                                        const candidate& how, const positions& homes);

/// The object's map if pages whose first touch is known were elsewhere. `to(run, memory)`: the
/// memory in which the run's pages would be that are in this one now.
template <class To>
[[nodiscard]] model::page_map map_after(const item& what, const To& to) {
  std::vector<model::page_block> blocks;
  std::size_t page = 0;
  const auto add = [&](std::uint64_t last, const auto& memory_of) {
    while (page < std::min(last, what.what->pages)) {
      const std::size_t end = std::min({last, what.what->pages, what.now.end_of_block(page)});
      blocks.push_back({end, memory_of(what.now.node_of(page))});
      page = end;
    }
  };
  for (const profile::touched_run& run : what.what->touched) {
    add(run.first, std::identity());
    add(run.first + run.count, [&](std::size_t memory) { return to(run, memory); });
  }
  add(what.what->pages, std::identity());
  return blocks.empty() ? what.now : model::page_map::of_blocks(std::move(blocks));
}

/// All of an object on the node of one thread.
[[nodiscard]] candidate on_thread(std::size_t thread);

/// Candidates worth trying for objects that are placed alike, the simplest first. The first one
/// leaves them as they are. `most_runs` limits the length of maps.
[[nodiscard]] std::vector<candidate> candidates_for(const analysis& of, const positions& items,
                                                    const positions& homes, std::size_t most_runs);

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
