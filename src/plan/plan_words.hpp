// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Values of a plan and their words in its file, made to be edited by hand: ">= 8M",
// "solver+0x1234". Every reader throws `error` (usage); the caller adds the name of the field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nodewise::plans {

/// "0x1234" or a decimal number; nullopt for anything else, and beyond the largest object.
[[nodiscard]] std::optional<std::uint64_t> read_offset(std::string_view text) noexcept;

/// Code by module and offset from its lowest mapped address.
struct code_place {
  std::string module; ///< the file's last part
  std::uint64_t offset = 0;
  friend bool operator==(const code_place&, const code_place&) = default;
};
/// "solver+0x1234".
[[nodiscard]] std::string text_of(const code_place& place);
[[nodiscard]] code_place read_code_place(std::string_view text);

/// The longest pattern of a file's path, in bytes.
inline constexpr std::size_t longest_file_pattern = 255;

/// Sizes of objects, both inclusive.
struct byte_range {
  std::uint64_t least_bytes = 0;
  std::optional<std::uint64_t> most_bytes = {};
  friend bool operator==(const byte_range&, const byte_range&) = default;
};
/// ">= 8M", "<= 1G", "= 4096", "8M-16M"; empty if any size matches.
[[nodiscard]] std::string text_of(const byte_range& sizes);
/// The same; also "> 8M", "< 16M" and several ranges with commas.
[[nodiscard]] byte_range read_byte_range(std::string_view text);

/// Positions of objects in allocation order, from 0; half-open.
struct ordinals {
  std::optional<std::uint64_t> first = {};
  std::optional<std::uint64_t> last = {};
  friend bool operator==(const ordinals&, const ordinals&) = default;
};
/// "2", "0-3", "4-": both ends are included; empty if all objects match.
[[nodiscard]] std::string text_of(const ordinals& which);
[[nodiscard]] ordinals read_ordinals(std::string_view text);

} // namespace nodewise::plans
