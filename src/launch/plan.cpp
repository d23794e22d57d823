// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/plan.hpp"

#include <algorithm>

namespace nodewise::launch {

bool planned_file::is_incomplete() const noexcept {
  return !problem.empty() ||
         std::ranges::any_of(entries, [](const entry& each) { return !each.left_out.empty(); });
}

std::vector<placements::owner_run> runs_of(const std::vector<node_id>& owners) {
  std::vector<placements::owner_run> runs;
  for (const node_id node : owners) {
    const auto owner = static_cast<std::size_t>(to_int(node));
    if (!runs.empty() && runs.back().owner == owner) {
      ++runs.back().parts;
    } else {
      runs.push_back({1, owner});
    }
  }
  return runs;
}

bool agent_orders::places_memory() const noexcept {
  return standard.has_value() || !rules.empty();
}

} // namespace nodewise::launch
