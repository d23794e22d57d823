// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "base/line_names.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace nodewise {

namespace {

std::string line_at(const line_list& lines, std::size_t depth) {
  return depth < lines.size() ? lines[depth] : std::string{};
}

/// How many calls away from the allocation these lists first differ; 0: nowhere.
std::size_t first_difference(const std::vector<line_list>& all,
                             const std::vector<std::size_t>& of) {
  std::size_t deepest = 0;
  for (const std::size_t i : of) {
    deepest = std::max(deepest, all[i].size());
  }
  for (std::size_t depth = 1; depth < deepest; ++depth) {
    const std::string first = line_at(all[of.front()], depth);
    if (std::ranges::any_of(of, [&](std::size_t i) { return line_at(all[i], depth) != first; })) {
      return depth;
    }
  }
  return 0;
}

} // namespace

std::vector<line_name> names_by_lines(const std::vector<line_list>& all) {
  std::vector<line_name> names(all.size());
  std::map<std::string, std::vector<std::size_t>> by_line;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].empty()) {
      names[i] = {all[i].front(), all[i].front()};
      by_line[all[i].front()].push_back(i);
    }
  }
  for (const auto& [line, asked] : by_line) {
    const std::size_t depth = first_difference(all, asked);
    for (const std::size_t i : asked) {
      if (const std::string caller = depth == 0 ? "" : line_at(all[i], depth); !caller.empty()) {
        names[i] = {caller + " (through " + line + ")", caller};
      }
    }
  }
  return names;
}

} // namespace nodewise
