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
  node_finder(const traffic::counts& of, traffic::process_key key) : page_bytes_(of.page_bytes) {
    for (const traffic::page_run& run : of.pages) {
      if (run.pid == key && run.user != unknown_node) {
        runs_.push_back({run.object, page_of(run), run.count, run.user});
      }
    }
    std::ranges::sort(runs_, {}, position);
  }

  /// So many lines of the run, by node.
  void add(const traffic::user_run& used, std::uint64_t lines,
           std::map<node_id, double>& into) const {
    const std::uint64_t begin = page_of(used);
    auto at = std::ranges::upper_bound(runs_, std::pair(used.object, begin), {}, position);
    if (at != runs_.begin() && std::prev(at)->object == used.object) {
      --at;
    }
    const std::uint64_t end = begin + used.count;
    for (; at != runs_.end() && at->object == used.object && at->first < end; ++at) {
      const std::uint64_t first = std::max(begin, at->first);
      const std::uint64_t last = std::min(end, at->first + at->count);
      if (first < last) {
        into[at->user] += static_cast<double>(lines) * static_cast<double>(last - first) /
                          static_cast<double>(used.count);
      }
    }
  }

 private:
  struct pages_of_node {
    std::optional<traffic::object_id> object;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    node_id user = unknown_node;
  };

  static std::pair<std::optional<traffic::object_id>, std::uint64_t>
  position(const pages_of_node& run) {
    return {run.object, run.first};
  }
  /// Memory of no object is counted by address.
  [[nodiscard]] std::uint64_t page_of(const auto& run) const {
    return run.object ? run.first : run.first / page_bytes_;
  }

  std::uint64_t page_bytes_;
  std::vector<pages_of_node> runs_;
};

} // namespace nodewise::attribution
