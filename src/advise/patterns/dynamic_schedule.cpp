// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Any thread may work on any page: dynamic and guided schedules, tasks.
#include "advise/patterns.hpp"

namespace nodewise::advise {

namespace {

positions dynamic_schedule_sites(const analysis& of, const std::vector<char>& free) {
  if (of.swept.empty() || of.sampled) { // samples differ from page to page anyway
    return {};
  }
  return sites_where(of, free,
                     [](const item&, const shape& how) { return how.anyones() && !how.steady; });
}

suspicion describe_dynamic_schedule(const analysis& of, const positions& sites) {
  return usual(of, sites, "any thread works on any page, as with a dynamic schedule or tasks",
               {.last = sharers_of(of, sites), .remark = in_step});
}

std::vector<cure> dynamic_schedule_cures(const subject& of, const remedy& with) {
  std::vector<cure> all = first_touch_loops(of, with);
  all.push_back(interleave(of, spread_pages).front());
  return all;
}

} // namespace

const detector dynamic_schedule(
    pattern::dynamic_schedule, needs_uses | needs_objects, dynamic_schedule_sites,
    describe_dynamic_schedule, dynamic_schedule_cures,
    {"if all iterations do the same work, use a static schedule, also for the first touch; or "
     "hand out chunks node by node, local ones first"});

} // namespace nodewise::advise
