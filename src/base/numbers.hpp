// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Numbers and sizes from text.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nodewise {

/// Removes the number at the beginning of `rest` and returns it; nullopt, and `rest` unchanged, if
/// there is none or it does not fit.
template <class Number>
[[nodiscard]] std::optional<Number> take_number(std::string_view& rest, int base = 10) noexcept {
  Number value{};
  const auto [stop, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (code != std::errc{}) {
    return std::nullopt;
  }
  rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
  return value;
}

/// The number that is the whole text; nullopt for anything else. Whole numbers only.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, int base = 10) noexcept {
  const auto value = take_number<Number>(text, base);
  return text.empty() ? value : std::nullopt;
}

/// The number that is the whole text: "0.5", "1e9", "inf"; nullopt for anything else.
[[nodiscard]] inline std::optional<double>
parse_real(std::string_view text, std::chars_format format = std::chars_format::general) noexcept {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value, format);
  return code == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

/// Bytes from "4096", "64K", "4MiB", "1.5G": binary units. nullopt for anything else.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;

/// The exact size in the largest unit that divides it: "8M", "64K", "8388609".
[[nodiscard]] std::string exact_size_text(std::uint64_t bytes);

} // namespace nodewise
