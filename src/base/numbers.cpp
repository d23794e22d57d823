// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "base/numbers.hpp"

#include <algorithm>

namespace nodewise {

namespace {

/// The power of two that a unit stands for, or -1.
int shift_of(std::string_view unit) noexcept {
  if (unit.empty() || unit == "B") {
    return 0;
  }
  if (unit.ends_with("iB")) {
    unit.remove_suffix(2);
  }
  constexpr std::string_view letters = "KMGTP";
  const std::size_t at =
      unit.size() == 1 ? letters.find(unit == "k" ? 'K' : unit.front()) : letters.npos;
  return at == letters.npos ? -1 : 10 * (static_cast<int>(at) + 1);
}

} // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  const int shift = shift_of({stop, static_cast<std::size_t>(end - stop)});
  const double bytes = value * static_cast<double>(std::uint64_t{1} << std::max(shift, 0));
  if (code != std::errc{} || shift < 0 || !(value >= 0) || bytes >= 0x1p63) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(bytes);
}

std::string exact_size_text(std::uint64_t bytes) {
  constexpr std::string_view units = "PTGMK";
  for (std::size_t i = 0; bytes != 0 && i < units.size(); ++i) {
    const std::size_t shift = 10 * (units.size() - i);
    if (bytes >> shift << shift == bytes) {
      return std::to_string(bytes >> shift) + units[i];
    }
  }
  return std::to_string(bytes);
}

} // namespace nodewise
