// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/words.hpp"

#include <array>
#include <cmath>
#include <span>

#include <fmt/core.h>

#include "base/joined.hpp"

namespace nodewise::advise {

std::string percent(double share) {
  const double value = share * 100;
  const bool whole = value == 0 || value >= 10;
  return fmt::format("{:.{}f} %", value, whole ? 0 : 1);
}

std::string number(double value) {
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr double step = 1024;
  std::size_t unit = 0;
  while (bytes >= step && unit + 1 < units.size()) {
    bytes /= step;
    ++unit;
  }
  const bool whole = unit == 0 || bytes >= 10 || bytes == std::floor(bytes);
  return fmt::format("{:.{}f} {}", bytes, whole ? 0 : 1, units[unit]);
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 4;
  constexpr std::size_t shown = 3;
  if (names.size() < 2) {
    return joined(names, "");
  }
  const std::span all(names);
  return names.size() <= most
             ? fmt::format("{} and {}", joined(all.first(all.size() - 1), ", "), names.back())
             : fmt::format("{} and {} more", joined(all.first(shown), ", "), names.size() - shown);
}

} // namespace nodewise::advise
