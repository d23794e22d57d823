// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Several static arrays that one thread initialised: the program treats them as one.
#include "advise/patterns.hpp"

namespace nodewise::advise {

namespace {

positions static_arrays_sites(const analysis& of, const std::vector<char>& free) {
  const positions found = sites_where(of, free, [](const item& what, const shape& how) {
    return what.what->kind == profile::object_kind::static_array && is_serial(what, how);
  });
  return found.size() > 1 ? found : positions();
}

suspicion describe_static_arrays(const analysis& of, const positions& sites) {
  suspicion made{.title = fmt::format("the static arrays {} are used together, and one thread "
                                      "touched all of them first",
                                      names_of(of, sites)),
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites)};
  made.remarks.emplace_back("arrays with an initialiser come from the program's file: their pages "
                            "may be touched before main");
  return made;
}

} // namespace

const detector static_arrays(pattern::static_arrays, needs_faults | needs_objects,
                             static_arrays_sites, describe_static_arrays, touch_in_parallel);

} // namespace nodewise::advise
