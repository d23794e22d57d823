// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace nodewise::advise {

namespace {

std::string with_digits(double value, int digits) {
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return {text.data(), std::min(static_cast<std::size_t>(std::max(length, 0)), text.size() - 1)};
}

} // namespace

std::string percent(double share) {
  const double value = share * 100;
  const bool whole = value == 0 || value >= 10;
  return with_digits(value, whole ? 0 : 1) + " %";
}

std::string number(double value) {
  return with_digits(value, value < 10 ? 2 : value < 100 ? 1 : 0);
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
  return with_digits(bytes, whole ? 0 : 1) + " " + units[unit];
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 4;
  constexpr std::size_t shown = 3;
  const std::size_t named = names.size() > most ? shown : names.size();
  std::string text;
  for (std::size_t i = 0; i < named; ++i) {
    const bool last = i + 1 == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  return named < names.size() ? text + " and " + std::to_string(names.size() - named) + " more"
                              : text;
}

std::string count_of(std::size_t count, const char* singular) {
  return std::to_string(count) + " " + singular + (count == 1 ? "" : "s");
}

} // namespace nodewise::advise
