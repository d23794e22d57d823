// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "bind/team_sizes.hpp"

#include <algorithm>
#include <cstdint>

#include "base/joined.hpp"
#include "base/parse_number.hpp"
#include "base/split.hpp"

namespace nodewise::bind {

std::vector<std::size_t> parse_team_sizes(std::string_view text) {
  std::vector<std::size_t> sizes;
  for (std::string_view part : split(text, ',')) {
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    const std::size_t size = take_number<std::size_t>(part).value_or(0);
    if (size == 0) {
      break;
    }
    sizes.push_back(size);
    if (part.find_first_not_of(' ') != std::string_view::npos) {
      break;
    }
  }
  return sizes;
}

std::string text_of_team_sizes(const std::vector<std::size_t>& sizes) {
  return joined(sizes, ",");
}

std::size_t threads_of_teams(const std::vector<std::size_t>& sizes) {
  std::size_t threads = sizes.empty() ? 0 : 1;
  for (const std::size_t size : sizes) {
    threads = size == 0 || threads <= SIZE_MAX / size ? threads * size : SIZE_MAX;
  }
  return threads;
}

std::string nested_proc_bind(const std::vector<std::size_t>& sizes) {
  std::string text;
  for (std::size_t level = 1; level < sizes.size(); ++level) {
    text += "spread,";
  }
  return text + "close";
}

} // namespace nodewise::bind
