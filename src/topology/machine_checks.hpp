// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Checks that apply to every machine, from whatever source.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include <nodewise/machine.hpp>

namespace nodewise::topology_detail {

/// Nothing is nearer to a node than itself. A firmware table that says otherwise is useless: it
/// would send work away from its data.
[[nodiscard]] inline bool is_nearest_to_itself(const std::vector<int>& row, std::size_t own) {
  return row[own] > 0 && std::ranges::min(row) == row[own];
}

/// Removes an invalid table of distances and adds a note.
inline void drop_senseless_distances(machine& all) {
  for (std::size_t i = 0; i < all.distances.size(); ++i) {
    if (!is_nearest_to_itself(all.distances[i], i)) {
      all.distances.clear();
      all.notes.emplace_back("distances are skipped: the firmware's table puts a node nearer to "
                             "another than to itself");
      return;
    }
  }
}

/// The order of caches: by level, kind and first processor.
inline void sort_caches(std::vector<cache>& caches) {
  std::ranges::sort(caches, {}, [](const cache& each) {
    return std::tuple(each.level, each.kind, each.cpus.first());
  });
}

} // namespace nodewise::topology_detail
