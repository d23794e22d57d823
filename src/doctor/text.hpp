// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <nodewise/error.hpp>
#include <nodewise/id_set.hpp>

#include "sys/kernel.hpp"

namespace nodewise::doctor {

/// The text after "Name:" at the beginning of a line, as in /proc/self/status; nullopt if there is
/// no such line.
[[nodiscard]] inline std::optional<std::string_view> field(std::string_view text,
                                                           std::string_view name) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
      line.remove_prefix(name.size() + 1);
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      return line;
    }
  }
  return std::nullopt;
}

/// Parses a list as the kernel writes it, "0-3,8"; nullopt for anything else, such as empty text.
template <class Id>
[[nodiscard]] std::optional<id_set<Id>> parse_set(const std::optional<std::string_view>& list) {
  try {
    return list ? std::optional(
                      id_set<Id>::parse(list->substr(0, list->find_last_not_of(" \t\n") + 1)))
                : std::nullopt;
  } catch (const error&) {
    return std::nullopt;
  }
}

template <class Id>
[[nodiscard]] std::optional<id_set<Id>> read_set(sys::kernel& from, const std::string& path) {
  const auto text = from.read_file(path.c_str());
  return text ? parse_set<Id>(std::string_view(text.value)) : std::nullopt;
}

/// "512 MiB".
[[nodiscard]] inline std::string mebibytes(unsigned long long bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

} // namespace nodewise::doctor
