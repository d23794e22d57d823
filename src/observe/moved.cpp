// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/moved.hpp"

#include <algorithm>

namespace nodewise::observe {

std::vector<placed_run> placed_runs(std::span<const located_mapping> mappings,
                                    std::size_t page_bytes) {
  std::vector<placed_run> all;
  for (const located_mapping& each : mappings) {
    std::uint64_t at = each.what.where.first / page_bytes;
    for (const page_run& run : each.runs) {
      if (to_int(run.node) >= 0) {
        all.push_back({at, run.pages, run.node});
      }
      at += run.pages;
    }
  }
  return all;
}

std::uint64_t moved_pages(std::span<const placed_run> before, std::span<const placed_run> now) {
  std::uint64_t moved = 0;
  auto old = before.begin();
  auto current = now.begin();
  while (old != before.end() && current != now.end()) {
    const std::uint64_t old_end = old->first + old->pages;
    const std::uint64_t current_end = current->first + current->pages;
    const std::uint64_t first = std::max(old->first, current->first);
    const std::uint64_t end = std::min(old_end, current_end);
    if (first < end && old->node != current->node) {
      moved += end - first;
    }
    old_end <= current_end ? void(++old) : void(++current);
  }
  return moved;
}

} // namespace nodewise::observe
