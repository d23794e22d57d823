// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// std::vector and new T[n]: constructors touched the array, in one thread.
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

std::vector<std::size_t> constructor_touch_sites(const analysis& of,
                                                 const std::vector<char>& free) {
  return sites_where(of, free, [](const item& what, const shape& how) {
    return is_serial(what, how) && how.by_constructor >= 0.5;
  });
}

suspicion describe_constructor_touch(const analysis& of, const std::vector<std::size_t>& sites) {
  suspicion made{.title = names_of(of.input, sites) +
                          ": constructed by one thread, which so touched all pages first",
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites)};
  made.evidence.insert(
      made.evidence.begin(),
      "constructors touched " +
          percent(mean_over(of, sites, [](const shape& s) { return s.by_constructor; })) +
          " of the pages first");
  return made;
}

} // namespace

const detector constructor_touch{.what = pattern::constructor_touch,
                                 .needs = needs_faults | needs_objects,
                                 .sites = constructor_touch_sites,
                                 .describe = describe_constructor_touch};

} // namespace nodewise::advise
