// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Touched in parallel, but not by the threads that use the pages.
#include "advise/patterns.hpp"

namespace nodewise::advise {

namespace {

/// The threads that touched it also use it, but now from other nodes: see unpinned threads.
bool has_only_moved(const analysis& of, const shape& how) {
  constexpr double mostly = 0.5;
  return how.same_touch >= mostly && std::ranges::any_of(of.workers, &worker::roams);
}

positions different_schedules_sites(const analysis& of, const std::vector<char>& free) {
  return sites_where(of, free, [&](const item& what, const shape& how) {
    return what.units > 0 && how.remote >= some_remote && !how.anyones() && !is_serial(what, how) &&
           !has_only_moved(of, how);
  });
}

suspicion describe_different_schedules(const analysis& of, const positions& sites) {
  return usual(of, sites, "pages are on other nodes than the threads that use them",
               {.last = fmt::format("the nodes that touched pages first make {} of their use",
                                    percent(mean_over(of, sites, &shape::own_touch)))});
}

} // namespace

const detector different_schedules(pattern::different_schedules, needs_uses | needs_objects,
                                   different_schedules_sites, describe_different_schedules,
                                   touch_in_parallel,
                                   {"use one schedule for the first touch and for the work"});

} // namespace nodewise::advise
