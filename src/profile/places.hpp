// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Uses of pages, with the places of the pages.
#pragma once

#include <algorithm>

#include "profile/profile.hpp"

namespace nodewise::profile {

/// Calls `see(run, part, node)` for each part (0..1 of its pages) of a run of uses whose pages are
/// on one node, or on `unknown_node`; ascending. Pages that were not resident are left out.
template <class See>
void for_each_used_part(const object& what, See see) {
  auto where = what.where.begin();
  for (const use_run& run : what.uses) {
    while (where != what.where.end() && where->first + where->count <= run.first) {
      ++where;
    }
    for (auto at = where; at != what.where.end() && at->first < run.first + run.count; ++at) {
      const std::uint64_t first = std::max(at->first, run.first);
      const std::uint64_t end = std::min(at->first + at->count, run.first + run.count);
      see(run, static_cast<double>(end - first) / static_cast<double>(run.count), at->node);
    }
  }
}

} // namespace nodewise::profile
