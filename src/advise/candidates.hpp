// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What can be done with the pages of objects, and where they would be then.
#pragma once

#include <cstddef>
#include <vector>

#include "advise/analysis_input.hpp"
#include "advise/shape.hpp"
#include "model/page_map.hpp"
#include "plan/plan.hpp"

namespace nodewise::advise {

/// As in a plan: threads are numbers.
struct candidate {
  plans::layout how = plans::layout::untouched;
  std::size_t thread = 0;
  std::vector<plans::part_run> parts = {};
  double lost = 0; ///< 0..1 of the use: what fewer parts cost against the exact map
  /// 0..1: of whose pages they are, see `use_map::misplaced`; where it is known.
  double misplaced = 0;
  /// Of `interleaved`: these memories, with or without threads; empty: those that threads are at.
  std::vector<plans::memory_weight> memories = {};
};

/// The node of each thread of a program, by its number; `nowhere` where it is not known. Threads
/// behind the last one that was seen at work are left out. Of several with one number, which were
/// there one after the other, the node of who moved most. `homes`: node by worker; empty: as now.
[[nodiscard]] std::vector<std::size_t> nodes_of_threads(const analysis_input& of,
                                                        std::size_t program,
                                                        const std::vector<std::size_t>& homes);

/// Pages that the object's bytes fill. One that begins within a page lies on one more, and what the
/// agent places begins with a page: parts of a map are of these.
[[nodiscard]] std::size_t filled_pages(const analysis_input& of, const item& what);

/// Where the pages of an object would be.
[[nodiscard]] model::page_map map_under(const analysis_input& of, const item& what,
                                        const candidate& how,
                                        const std::vector<std::size_t>& homes);

/// What is worth trying for objects that are placed alike, the simplest first; the first one is to
/// leave them. `most_runs` limits maps.
[[nodiscard]] std::vector<candidate> candidates_for(const analysis& of,
                                                    const std::vector<std::size_t>& items,
                                                    const std::vector<std::size_t>& homes,
                                                    std::size_t most_runs);

} // namespace nodewise::advise
