// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// All threads read all of it: no thread's node is better than another's.
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

positions used_by_all_sites(const analysis& of, const std::vector<char>& free) {
  return sites_where(of, free, [](const item&, const shape& how) { return how.anyones(); });
}

suspicion describe_used_by_all(const analysis& of, const positions& sites) {
  suspicion made = usual(of, sites, "all nodes use every page, and one memory serves most of them");
  made.remarks.emplace_back("phases that use it along different axes look the same: pages in turn "
                            "are then the compromise");
  return made;
}

std::vector<cure> used_by_all_cures(const subject& of) {
  return {interleave(of)};
}

} // namespace

const detector used_by_all{pattern::used_by_all, needs_uses | needs_objects, used_by_all_sites,
                           describe_used_by_all, used_by_all_cures};

} // namespace nodewise::advise
