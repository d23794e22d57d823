// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "traffic/counts.hpp"

namespace nodewise::attribution {

/// Where threads were while they used memory. The count has it by page: what one thread used most
/// of was mostly used from that thread's node.
class node_finder {
 public:
  node_finder(const traffic::counts& of, traffic::process_key key) {
    for (const traffic::page_run& run : of.pages) {
      if (run.pid == key && run.object && run.user != unknown_node) {
        runs_.push_back(&run);
      }
    }
    std::ranges::sort(runs_, {}, position);
  }

  /// So many lines of the run, which is an object's, by node.
  void add(const traffic::user_run& used, std::uint64_t lines,
           std::map<node_id, double>& into) const {
    auto at = std::ranges::upper_bound(runs_, std::pair(used.object, used.first), {}, position);
    if (at != runs_.begin() && (*std::prev(at))->object == used.object) {
      --at;
    }
    const std::uint64_t end = used.first + used.count;
    for (; at != runs_.end() && (*at)->object == used.object && (*at)->first < end; ++at) {
      const std::uint64_t first = std::max(used.first, (*at)->first);
      const std::uint64_t last = std::min(end, (*at)->first + (*at)->count);
      if (first < last) {
        into[(*at)->user] += static_cast<double>(lines) * static_cast<double>(last - first) /
                             static_cast<double>(used.count);
      }
    }
  }

 private:
  static std::pair<std::optional<traffic::object_id>, std::uint64_t>
  position(const traffic::page_run* run) {
    return {run->object, run->first};
  }
  std::vector<const traffic::page_run*> runs_;
};

} // namespace nodewise::attribution
