// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Uses of pages, with the places of the pages.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

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

/// The nodes of the threads of a program: `thread::places()`, or `unknown_node` alone.
class thread_places {
 public:
  explicit thread_places(const program& in) {
    for (const thread& each : in.threads) {
      all_.push_back(each.places());
      if (all_.back().empty()) {
        all_.back() = unknown_;
      }
    }
  }

  [[nodiscard]] const std::vector<thread::place>& of(thread_index by) const noexcept {
    return by < all_.size() ? all_[by] : unknown_;
  }

 private:
  std::vector<std::vector<thread::place>> all_;
  std::vector<thread::place> unknown_ = {{unknown_node, 1}};
};

/// What moves per unit of use: it is fetched, and a part of it is written back. The share is
/// limited to 0..1, whatever a file contains.
[[nodiscard]] inline double moved_per_use(const object& what) {
  return 1 + (std::isfinite(what.write_share) ? std::clamp(what.write_share, 0.0, 1.0) : 0);
}

/// Calls `see(by, from, memory, amount)` for what moved between a node of a thread and a node of
/// memory: what was used, and what was written back. Either node may be `unknown_node`.
template <class See>
void for_each_moved_part(const object& what, const thread_places& threads, See see) {
  const double moved = moved_per_use(what);
  for_each_used_part(what, [&](const use_run& run, double part, node_id memory) {
    for (const use& each : run.by) {
      for (const auto& [from, share] : threads.of(each.by)) {
        see(each.by, from, memory, each.amount * moved * part * share);
      }
    }
  });
}

} // namespace nodewise::profile
