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
