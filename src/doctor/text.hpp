// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <nodewise/error.hpp>
#include <nodewise/id_set.hpp>

#include "base/split.hpp"
#include "sys/kernel.hpp"

namespace nodewise::doctor {

/// The text after "Name:" at the beginning of a line, as in /proc/self/status; nullopt if there is
/// no such line. `end`: what follows the name instead of a colon.
[[nodiscard]] inline std::optional<std::string_view> field(std::string_view text,
                                                           std::string_view name, char end = ':') {
  for (std::string_view line : split(text, '\n')) {
    if (line.starts_with(name) && line.substr(name.size()).starts_with(end)) {
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
  return fmt::format("{} MiB", bytes >> 20);
}

} // namespace nodewise::doctor
