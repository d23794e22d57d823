// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Several static arrays that one thread initialised: the program treats them as one.
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

std::vector<std::size_t> static_arrays_sites(const analysis& of, const std::vector<char>& free) {
  std::vector<std::size_t> found = sites_where(of, free, [](const item& what, const shape& how) {
    return what.what->kind == profile::object_kind::static_array && is_serial(what, how);
  });
  return found.size() > 1 ? found : std::vector<std::size_t>();
}

suspicion describe_static_arrays(const analysis& of, const std::vector<std::size_t>& sites) {
  suspicion made{.title = "the static arrays " + names_of(of.input, sites) +
                          " are used together, and one thread touched all of them first",
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites)};
  made.remarks.emplace_back("what has an initialiser comes from the program's file: the loader's "
                            "memory is touched before main, too");
  return made;
}

} // namespace

const detector static_arrays{.what = pattern::static_arrays,
                             .needs = needs_faults | needs_objects,
                             .sites = static_arrays_sites,
                             .describe = describe_static_arrays};

} // namespace nodewise::advise
