// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Possible placements of objects' pages, and where the pages would then be.
#pragma once

#include <cstddef>
#include <vector>

#include "advise/analysis_input.hpp"
#include "advise/shape.hpp"
#include "model/page_map.hpp"
#include "placement/placement.hpp"

namespace nodewise::advise {

/// Thread numbers are those of a plan.
struct candidate {
  placements::placement where = {};
  double lost = 0; ///< 0..1 of the use: cost of having fewer parts than the exact map
  /// 0..1: see `use_map::misplaced`; only where it is known.
  double misplaced = 0;
};

/// The node of each thread of a program, by its number; `nowhere` if unknown. Threads after the
/// last one that worked are left out. If several threads had one number in turn, the node is that
/// of the thread that moved most. `homes`: node by worker; empty: as now.
[[nodiscard]] std::vector<std::size_t> nodes_of_threads(const analysis_input& of,
                                                        std::size_t program,
                                                        const std::vector<std::size_t>& homes);

/// Pages that the object's bytes fill; parts of a map divide these. An object that begins within a
/// page covers one more, but what the agent places begins on a page boundary.
[[nodiscard]] std::size_t filled_pages(const analysis_input& of, const item& what);

/// Where the pages of an object would be.
[[nodiscard]] model::page_map map_under(const analysis_input& of, const item& what,
                                        const candidate& how,
                                        const std::vector<std::size_t>& homes);

/// All of an object on the node of one thread.
[[nodiscard]] candidate on_thread(std::size_t thread);

/// Candidates worth trying for objects that are placed alike, the simplest first. The first one
/// leaves them as they are. `most_runs` limits the length of maps.
[[nodiscard]] std::vector<candidate> candidates_for(const analysis& of,
                                                    const std::vector<std::size_t>& items,
                                                    const std::vector<std::size_t>& homes,
                                                    std::size_t most_runs);

} // namespace nodewise::advise
