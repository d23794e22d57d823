// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

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

} // namespace nodewise
