// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The words of a plan file, made to be edited by hand: ">= 8M", "solver+0x1234".
// Every reader throws `error` (usage); the caller adds the name of the field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace nodewise::plans {

using placements::largest_object;

/// "0x1234" or a decimal number; nullopt for anything else, and beyond `largest_object`.
[[nodiscard]] std::optional<std::uint64_t> read_offset(std::string_view text) noexcept;

/// "solver+0x1234".
[[nodiscard]] std::string text_of(const code_place& place);
[[nodiscard]] code_place read_code_place(std::string_view text);

/// Sizes of objects, both inclusive.
struct byte_range {
  std::uint64_t least = 0;
  std::optional<std::uint64_t> most;
  friend bool operator==(const byte_range&, const byte_range&) = default;
};
/// ">= 8M", "<= 1G", "= 4096", "8M-16M"; empty if any size matches.
[[nodiscard]] std::string text_of(const byte_range& sizes);
/// The same; also "> 8M", "< 16M" and several ranges with commas.
[[nodiscard]] byte_range read_byte_range(std::string_view text);

/// Positions of objects in allocation order, from 0; half-open.
struct ordinals {
  std::optional<std::uint64_t> first;
  std::optional<std::uint64_t> last;
  friend bool operator==(const ordinals&, const ordinals&) = default;
};
/// "2", "0-3", "4-": both ends are included; empty if all objects match.
[[nodiscard]] std::string text_of(const ordinals& which);
[[nodiscard]] ordinals read_ordinals(std::string_view text);

} // namespace nodewise::plans
