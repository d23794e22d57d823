// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// std::vector and new T[n]: constructors touched the array, in one thread.
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

positions constructor_touch_sites(const analysis& of, const std::vector<char>& free) {
  return sites_where(of, free, [](const item& what, const shape& how) {
    return is_serial(what, how) && how.by_constructor >= 0.5;
  });
}

suspicion describe_constructor_touch(const analysis& of, const positions& sites) {
  suspicion made =
      usual(of, sites, "constructed by one thread, which therefore touched all pages first");
  made.evidence.insert(made.evidence.begin(),
                       fmt::format("constructors touched {} of the pages first",
                                   percent(mean_over(of, sites, &shape::by_constructor))));
  return made;
}

} // namespace

const detector constructor_touch{pattern::constructor_touch, needs_faults | needs_objects,
                                 constructor_touch_sites, describe_constructor_touch};

} // namespace nodewise::advise
