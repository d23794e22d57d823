// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/finding.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/text.hpp"

namespace nodewise::advise {

namespace {

std::string name_with(char between, pattern what) {
#define NODEWISE_PATTERN(name) #name,
  constexpr std::array<std::string_view, patterns> names = {NODEWISE_PATTERNS(NODEWISE_PATTERN)};
#undef NODEWISE_PATTERN
  std::string name(names[static_cast<std::size_t>(what)]);
  std::ranges::replace(name, '_', between);
  return name;
}

} // namespace

std::string to_string(pattern what) {
  return name_with('-', what);
}

std::string name_of(pattern what) {
  return name_with(' ', what);
}

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
