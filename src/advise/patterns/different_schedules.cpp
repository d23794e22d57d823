// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Touched in parallel, but not by the threads that use the pages.
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

/// The threads that touched it also use it, but now from other nodes: see unpinned threads.
bool has_only_moved(const analysis& of, const shape& how) {
  constexpr double mostly = 0.5;
  return how.same_touch >= mostly && std::ranges::any_of(of.input.workers(), &worker::roams);
}

std::vector<std::size_t> different_schedules_sites(const analysis& of,
                                                   const std::vector<char>& free) {
  return sites_where(of, free, [&](const item& what, const shape& how) {
    return what.units > 0 && how.remote >= some_remote && !how.anyones() && !is_serial(what, how) &&
           !has_only_moved(of, how);
  });
}

suspicion describe_different_schedules(const analysis& of, const std::vector<std::size_t>& sites) {
  suspicion made{.title = names_of(of.input, sites) +
                          ": pages belong to other nodes than those that use them",
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites)};
  made.evidence.push_back(
      "nodes that touched pages first make " +
      percent(mean_over(of, sites, [](const shape& s) { return s.own_touch; })) +
      " of the use of these pages");
  return made;
}

} // namespace

const detector different_schedules{.what = pattern::different_schedules,
                                   .needs = needs_uses | needs_objects,
                                   .sites = different_schedules_sites,
                                   .describe = describe_different_schedules};

} // namespace nodewise::advise
