// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// All threads read all of it: no thread's node is better than another's.
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

std::vector<std::size_t> used_by_all_sites(const analysis& of, const std::vector<char>& free) {
  return sites_where(of, free, [](const item&, const shape& how) { return how.anyones(); });
}

suspicion describe_used_by_all(const analysis& of, const std::vector<std::size_t>& sites) {
  suspicion made{.title = names_of(of.input, sites) + ": all nodes use every page, and one memory "
                                                      "serves most of them",
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites)};
  made.remarks.emplace_back("the same is seen where phases use it along different axes: then "
                            "pages in turn are the compromise");
  return made;
}

} // namespace

const detector used_by_all{.what = pattern::used_by_all,
                           .needs = needs_uses | needs_objects,
                           .sites = used_by_all_sites,
                           .describe = describe_used_by_all};

} // namespace nodewise::advise
