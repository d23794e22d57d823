// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The input of all patterns: the threads of programs that ran together, their homes, and which
// threads used which pages in which memory. A node is its position in `machine_costs::nodes`.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <nodewise/topology.hpp>

#include "model/costs.hpp"
#include "model/page_map.hpp"
#include "profile/profile.hpp"

namespace nodewise::advise {

inline constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
/// Of sites, items, workers or nodes.
using positions = std::vector<std::size_t>;

/// A thread of one of the programs.
struct worker {
  std::size_t program = 0; ///< position in `profile::programs`
  profile::thread_index thread = 0;
  std::size_t ordinal = 0;      ///< 0: the main thread, then in the order of creation
  std::size_t number = nowhere; ///< in plans: see `main_works`; `nowhere`: not in plans
  std::size_t home = nowhere;   ///< the node where it ran most
  /// Where it ran, and for which share of its work; empty if unknown.
  struct part {
    std::size_t node = 0;
    double share = 1;
  };
  std::vector<part> parts;
  bool active = false; ///< it touched or used memory
  /// Nothing keeps it on a node: it ran on several, its first touches were on another node, or
  /// another thread with its number was on another node.
  bool roams = false;
  double bytes = 0; ///< moved by it

  [[nodiscard]] bool moved() const noexcept { return parts.size() > 1; }
};

/// An object of one of the programs.
struct item {
  std::size_t program = 0;
  const profile::object* what = nullptr;
  std::size_t first_worker = 0; ///< thread k of the program is worker `first_worker + k`
  std::size_t site = 0;         ///< position in `analysis_input::sites`
  model::page_map now = model::page_map::in_turn({0}); ///< position `size()`: unknown
  std::span<const profile::use_run> uses;
  double units = 0;       ///< total use
  double unit_bytes = 1;  ///< bytes per unit
  double write_share = 0; ///< 0..1
  std::span<const profile::use_run> initialised;
  double initialised_write_share = 0; ///< 0..1
  bool all_known = true;              ///< the node of each of its pages is known
  bool alone = false; ///< the main thread uses it while others wait: see `mark_alone`

  [[nodiscard]] double bytes() const noexcept { return units * unit_bytes * (1 + write_share); }
};

/// Objects from one place in the code, or a single object that is not allocated.
struct site {
  std::size_t program = 0;
  std::string name; ///< as used in findings
  positions items;
  double bytes = 0; ///< moved by them
  bool placeable = false;
  bool places_itself = false; ///< by the library; it cannot be placed from outside
};

class analysis_input {
 public:
  /// `together`: positions of programs that are priced together. `of` and `on` must outlive this.
  analysis_input(const profile::profile& of, const topology& on, positions together);

  /// Items refer to memory of the input, so that it cannot be copied.
  analysis_input(analysis_input&&) = default;

  const profile::profile& profile;
  const topology& machine;
  positions programs; ///< that are priced together
  model::machine_costs costs;
  /// The other interpretation of what the machine's bandwidths limit, where that is ambiguous.
  model::machine_costs other_costs;
  std::vector<worker> workers;
  std::vector<item> items;
  std::vector<site> sites; ///< most bytes first
  double bytes = 0;        ///< moved by all items
  /// Which threads use memory was not observed. It is assumed that all threads use, in equal
  /// blocks, what the main thread touched first, and that everything else is used by its first
  /// toucher.
  bool assumed = false;
  bool sampled = false;   ///< uses are samples from the kernel, not counts
  bool has_alone = false; ///< an item is `alone`
  bool absolute = false;  ///< traffic and machine figures are in bytes and seconds

  [[nodiscard]] std::size_t nodes() const noexcept { return costs.size(); }
  /// The memory where first touch by the node's processors puts pages.
  [[nodiscard]] std::size_t memory_of(std::size_t node) const { return memory_of_[node]; }
  /// The operating system's node number.
  [[nodiscard]] node_id number_of(std::size_t node) const { return costs.nodes[node]; }
  /// The node's position; `nowhere` if the machine does not have the node.
  [[nodiscard]] std::size_t position_of(node_id node) const {
    return costs.position_of(node).value_or(nowhere);
  }
  /// The first object of the site at this position.
  [[nodiscard]] const profile::object& first_object(std::size_t site) const {
    return *items[sites[site].items.front()].what;
  }
  /// The items of these sites.
  [[nodiscard]] positions items_of(const positions& of_sites) const;
  /// Whether the main thread is thread 0 of a plan. If a runtime starts the threads, it always is.
  /// Otherwise the threads that the program starts follow it, or begin at 0 if it only waits for
  /// them. Numbers restart for threads that are started after all earlier ones were joined.
  [[nodiscard]] bool main_works(std::size_t program) const { return main_works_[program] != 0; }
  /// Sizes of nested parallel regions, outermost first; empty if teams are flat.
  [[nodiscard]] const positions& teams(std::size_t program) const { return teams_[program]; }
  [[nodiscard]] const profile::program& program(std::size_t at) const {
    return profile.programs[at];
  }
  [[nodiscard]] const profile::thread& thread(const worker& of) const {
    return program(of.program).threads[of.thread];
  }

 private:
  void add_workers(std::size_t program);
  // `team`: the program's workers, by thread.
  void mark_active(std::size_t program, std::span<worker> team);
  void number_workers(std::size_t program, std::span<worker> team);
  void number_team(std::size_t program, std::span<worker> team);
  void mark_roaming(std::size_t program, std::span<worker> team);
  void add_items(std::size_t program, std::size_t first_worker);
  void add_sites();
  void leave_single_rows();
  void mark_alone();
  [[nodiscard]] bool has_cores(std::size_t node) const {
    return std::ranges::find(costs.cores, node, &model::core_unit::node) != costs.cores.end();
  }
  [[nodiscard]] model::page_map map_now(const profile::object& of) const;
  [[nodiscard]] std::span<const profile::use_run> assume_uses(const item& of);

  positions memory_of_;
  std::vector<char> main_works_; ///< by program of the profile
  std::vector<positions> teams_; ///< likewise
  std::vector<std::vector<profile::use_run>> assumed_uses_;
};

/// Positions of programs that are priced together: the ranks of one job, or programs that one
/// parent started more than once and that ran at once. All others are separate. In the order of
/// their start.
[[nodiscard]] std::vector<positions> jobs_of(const profile::profile& of);

/// The job of one program. Throws `error` (usage) if the program does not exist.
[[nodiscard]] positions job_of(const profile::profile& of, std::size_t program);

/// The node of each thread of a program, by its number; `nowhere` if unknown. Threads after the
/// last one that worked are left out. If several threads had one number in turn, the node is that
/// of the thread that moved most. `homes`: node by worker; empty: as now.
[[nodiscard]] positions nodes_of_threads(const analysis_input& of, std::size_t program,
                                         const positions& homes);

/// Pages that the object's bytes fill; parts of a map divide these. An object that begins within a
/// page covers one more, but what the agent places begins on a page boundary.
[[nodiscard]] std::size_t filled_pages(const analysis_input& of, const item& what);

/// By the objects of these sites.
[[nodiscard]] double bytes_moved(const analysis_input& of, const positions& sites);

/// Calls `then(thread, amount)` for each use of these pages. A profile may contain any values, so
/// other threads and invalid amounts are left out.
template <class Then>
void for_each_use(const profile::program& in, const profile::use_run& run, const Then& then) {
  for (const profile::use& use : run.by) {
    if (use.by < in.threads.size() && std::isfinite(use.amount) && use.amount > 0) {
      then(use.by, use.amount);
    }
  }
}
/// The same as `then(worker, amount)`.
template <class Then>
void for_each_use(const analysis_input& of, const item& what, const profile::use_run& run,
                  const Then& then) {
  for_each_use(of.program(what.program), run, [&](profile::thread_index thread, double amount) {
    then(what.first_worker + thread, amount);
  });
}

/// The sum of `value(each)`.
template <class Range, class Value>
[[nodiscard]] double sum_over(const Range& all, const Value& value) {
  double sum = 0;
  for (const auto& each : all) {
    sum += static_cast<double>(std::invoke(value, each));
  }
  return sum;
}

[[nodiscard]] inline double sum_of(const std::vector<double>& all) {
  return std::accumulate(all.begin(), all.end(), 0.0);
}

/// 0, 1, ..., `end` - 1.
[[nodiscard]] inline positions positions_to(std::size_t end) {
  positions all(end);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}
/// The positions before `end` for which `is(position)` holds, ascending.
template <class Is>
[[nodiscard]] positions positions_below(std::size_t end, const Is& is) {
  positions found;
  for (std::size_t i = 0; i < end; ++i) {
    if (is(i)) {
      found.push_back(i);
    }
  }
  return found;
}
/// The positions where `is(each)` holds, ascending.
template <class Range, class Is>
[[nodiscard]] positions positions_where(const Range& all, const Is& is) {
  return positions_below(all.size(), [&](std::size_t i) { return std::invoke(is, all[i]); });
}

/// The position of the first of the greatest values; there must be one.
[[nodiscard]] inline std::size_t greatest_at(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
}

} // namespace nodewise::advise
