// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "bind/team_sizes.hpp"

#include <charconv>
#include <cstdint>

namespace nodewise::bind {

std::vector<std::size_t> parse_team_sizes(std::string_view text) {
  std::vector<std::size_t> sizes;
  for (;;) {
    while (text.starts_with(' ')) {
      text.remove_prefix(1);
    }
    std::size_t size = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (code != std::errc{} || size == 0) {
      return sizes;
    }
    sizes.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    while (text.starts_with(' ')) {
      text.remove_prefix(1);
    }
    if (!text.starts_with(',')) {
      return sizes;
    }
    text.remove_prefix(1);
  }
}

std::string text_of_team_sizes(const std::vector<std::size_t>& sizes) {
  std::string text;
  for (const std::size_t size : sizes) {
    text += (text.empty() ? "" : ",") + std::to_string(size);
  }
  return text;
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
