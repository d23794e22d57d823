// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Any thread may work on any page: dynamic and guided schedules, tasks.
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

std::vector<std::size_t> dynamic_schedule_sites(const analysis& of, const std::vector<char>& free) {
  if (of.swept.empty() || of.input.sampled()) { // samples differ from page to page anyway
    return {};
  }
  return sites_where(of, free,
                     [](const item&, const shape& how) { return how.anyones() && !how.steady; });
}

suspicion describe_dynamic_schedule(const analysis& of, const std::vector<std::size_t>& sites) {
  suspicion made{.title = names_of(of.input, sites) + ": any thread works on any page, as under a "
                                                      "dynamic schedule or with tasks",
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites)};
  made.evidence.push_back("a page is used by " +
                          number(mean_over(of, sites, [](const shape& s) { return s.sharers; })) +
                          " threads on average, in shares that differ from page to page");
  made.remarks.emplace_back("it is assumed that threads go through the arrays together, so that "
                            "neighbouring pages are in use at one time");
  return made;
}

} // namespace

const detector dynamic_schedule{.what = pattern::dynamic_schedule,
                                .needs = needs_uses | needs_objects,
                                .sites = dynamic_schedule_sites,
                                .describe = describe_dynamic_schedule};

} // namespace nodewise::advise
