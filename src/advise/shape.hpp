// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Figures of an object's first touches, pages and uses, by which patterns decide.
#pragma once

#include "advise/analysis_input.hpp"

namespace nodewise::advise {

/// Objects in allocation order that are placed alike.
struct site_part {
  positions items; ///< positions in the analysis_input
  /// The thread that uses most of it, by number. Set only if neighbours share an owner so often, or
  /// threads use objects so exclusively, that chance cannot explain it.
  std::optional<std::size_t> owner;
  std::vector<double> shares; ///< by item, 0..1: owner's share of the use by the plan's threads
};

/// Few objects: one part each. Many objects: consecutive ones with the same owner together. Empty
/// if that gives only one part, or if many objects have their owners by chance.
[[nodiscard]] std::vector<site_part> parts_of_site(const analysis_input& of,
                                                   const positions& items);

struct shape {
  // Of the pages whose first touch was seen:
  double one_thread = 0;              ///< share of the thread that touched most of them
  std::optional<std::size_t> toucher; ///< that worker
  std::size_t touching_nodes = 0;     ///< with at least a twentieth of them
  double by_kernel = 0;               ///< share that a system call touched
  double by_constructor = 0;          ///< share that a constructor touched
  double followed = 1;                ///< share that is in the memory of its first toucher's node
  // Of the pages whose node is known:
  std::size_t memory = nowhere; ///< the one with most of them
  double on_memory = 0;         ///< share there
  // Of the uses:
  std::size_t using_threads = 0; ///< with at least a tenth of the mean use
  std::size_t using_nodes = 0;   ///< of these threads
  double remote = 0;             ///< share that went to far memory
  double exclusive = 0;          ///< 0: all using nodes use each page alike; 1: one node per page
  double sharers = 1;            ///< mean threads per page, by share (inverse Simpson index)
  double in_blocks = 0;          ///< 0: equal blocks match their users by chance only; 1: fully
  bool steady = false;           ///< all its pages are shared alike
  bool ordered = true;           ///< pages belong to threads in blocks or in turn, not at random
  bool in_runs = false;          ///< in a few blocks, though a block may have several users
  bool owned = false;            ///< one thread uses most of it and of its neighbours in the site
  double repeats = 0;            ///< mean fetches per page; 0 if uses were not counted
  double own_touch = 0;  ///< share of the use by the node whose thread touched the page first
  double same_touch = 0; ///< share of the use by that thread, or one with its number

  [[nodiscard]] bool touched_by_one() const noexcept { return one_thread >= 0.9; }
  [[nodiscard]] bool on_one_node() const noexcept { return on_memory >= 0.8; }
  /// Every page is used from several nodes, or by any thread by chance. A block that one node uses
  /// alone in one phase and all nodes use in another still has an owner.
  [[nodiscard]] bool anyones() const noexcept {
    const double least_exclusive = in_runs ? 0.2 : 0.4; // with two of four nodes: a third
    return !owned && using_nodes > 1 &&
           (exclusive < least_exclusive || (!ordered && !scattered())) && in_blocks < 0.25;
  }
  /// Pages belong to threads at random, and each stays with its thread: an index assigns them.
  /// Chance would assign others in the next sweep.
  [[nodiscard]] bool scattered() const noexcept {
    constexpr double least_repeats = 3; // a page fetched this often by chance has several nodes
    return using_nodes > 1 && !ordered && exclusive >= 0.8 && repeats >= least_repeats;
  }
};

[[nodiscard]] shape shape_of(const analysis_input& of, const item& what);

/// An analysis input with the shapes of its items.
struct analysis : analysis_input {
  explicit analysis(analysis_input of);

  std::vector<shape> shapes;                 ///< by item
  std::vector<std::vector<site_part>> parts; ///< by site
  /// By item: threads sweep through it together. Most of the program's traffic is on pages that any
  /// thread uses, and so is this item's. Empty if there are no such items.
  std::vector<char> swept;
};

/// Whether an index assigns pages of one of these items: see `shape::scattered`.
[[nodiscard]] bool are_scattered(const analysis& of, const positions& items);
/// The bytes of these items' traffic that went to far memory.
[[nodiscard]] double remote_bytes(const analysis& of, const positions& items);

} // namespace nodewise::advise
