// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace nodewise {

/// "0x1f3": an address or an offset. Files hold it as text, too, because not every reader's numbers
/// have 64 bits.
[[nodiscard]] inline std::string hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits{};
  char* const end = std::to_chars(digits.begin(), digits.end(), value, 16).ptr;
  return std::string("0x").append(digits.begin(), end);
}

} // namespace nodewise
