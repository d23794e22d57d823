// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What an object's first touches, pages and uses look like: the figures that patterns decide by.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "advise/analysis_input.hpp"
#include "advise/site_parts.hpp"

namespace nodewise::advise {

struct shape {
  // Of the pages whose first touch was seen:
  double one_thread = 0;              ///< share of the thread with most of them
  std::optional<std::size_t> toucher; ///< that worker
  std::size_t touching_nodes = 0;     ///< with at least a twentieth of them
  double by_kernel = 0;               ///< share that a system call touched
  double by_constructor = 0;          ///< share that a constructor touched
  double followed = 1;                ///< share that is where its first toucher's memory is
  // Of the pages whose node is known:
  std::size_t memory = nowhere; ///< that has most of them
  double on_memory = 0;         ///< share there
  double dealt = 0;             ///< how often neighbours are on different nodes, 0..1
  // Of the use:
  std::size_t using_threads = 0; ///< with at least a tenth of the mean
  std::size_t using_nodes = 0;   ///< of these threads
  double remote = 0;             ///< share that went to far memory
  double exclusive = 0;  ///< 0: all using nodes use each page alike; 1: each page has one node
  double sharers = 1;    ///< threads a page, by their share (inverse Simpson index)
  double in_blocks = 0;  ///< 0: equal blocks find their users by chance; 1: they find them all
  bool steady = false;   ///< all its pages are shared alike
  bool ordered = true;   ///< pages belong to threads in blocks or in turn, not at random
  bool in_runs = false;  ///< in a few blocks, though a block may have several users
  bool owned = false;    ///< a thread uses most of it, and of its neighbours of the same site
  double repeats = 0;    ///< how often the mean page was fetched; 0 where uses were not counted
  double own_touch = 0;  ///< share of the use by the node whose thread touched the page first
  double same_touch = 0; ///< share of it by the thread, or one with its number

  [[nodiscard]] bool touched_by_one() const noexcept { return one_thread >= 0.9; }
  [[nodiscard]] bool on_one_node() const noexcept { return on_memory >= 0.8; }
  /// Every page is used from several nodes, or by whoever happens to come. A block that one phase
  /// uses by itself and another one from everywhere is still somebody's.
  [[nodiscard]] bool anyones() const noexcept {
    const double least_exclusive = in_runs ? 0.2 : 0.4; // two of four nodes: a third
    return !owned && using_nodes > 1 &&
           (exclusive < least_exclusive || (!ordered && !scattered())) && in_blocks < 0.25;
  }
  /// Pages belong to threads at random, and each stays with its own: an index decides and not
  /// chance, which would bring others in the next sweep.
  [[nodiscard]] bool scattered() const noexcept {
    constexpr double least_repeats = 3; // a page that chance gives away so often has several nodes
    return using_nodes > 1 && !ordered && exclusive >= 0.8 && repeats >= least_repeats;
  }
};

[[nodiscard]] shape shape_of(const analysis_input& of, const item& what);

/// An analysis input with the shapes of its items.
struct analysis {
  explicit analysis(const analysis_input& of);

  const analysis_input& input;
  std::vector<shape> shapes;                 ///< by item
  std::vector<std::vector<site_part>> parts; ///< by site
  /// By item: most of the program's traffic is of pages that anyone uses, and so is this one's:
  /// threads go through it together. Empty if nothing is.
  std::vector<char> swept;
};

/// Of the traffic of these items, what went to far memory.
[[nodiscard]] double remote_bytes(const analysis& of, const std::vector<std::size_t>& items);

} // namespace nodewise::advise
