// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace nodewise {

/// The number that is the whole text: "0.5", "1e9", "inf"; nullopt for anything else.
[[nodiscard]] inline std::optional<double>
parse_real(std::string_view text, std::chars_format format = std::chars_format::general) noexcept {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value, format);
  return code == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

} // namespace nodewise
