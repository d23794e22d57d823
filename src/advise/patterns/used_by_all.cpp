// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// All threads read all of it: no thread's node is better than another's.
#include "advise/patterns.hpp"

namespace nodewise::advise {

namespace {

positions used_by_all_sites(const analysis& of, const std::vector<char>& free) {
  return sites_where(of, free, [](const item&, const shape& how) { return how.anyones(); });
}

suspicion describe_used_by_all(const analysis& of, const positions& sites) {
  return usual(of, sites, "all nodes use every page, and one memory serves most of them",
               {.remark = "phases that use it along different axes look the same: pages in turn "
                          "are then the compromise"});
}

} // namespace

const detector used_by_all(pattern::used_by_all, needs_uses | needs_objects, used_by_all_sites,
                           describe_used_by_all, interleave, spread_pages);

} // namespace nodewise::advise
