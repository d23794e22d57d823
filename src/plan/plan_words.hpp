// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The words of a plan file, made to be edited by hand: ">= 8M", "solver+0x1234", "0*128 1*128",
// "cyclic:64K". Every reader throws `error` (usage); the caller adds the name of the field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace nodewise::plans {

inline constexpr std::size_t most_threads = std::size_t{1} << 13; ///< the limit of --threads
/// Parts in one map: more than any object has pages.
inline constexpr std::uint64_t most_parts = std::uint64_t{1} << 40;
/// No process has more memory than this.
inline constexpr std::uint64_t largest_object = std::uint64_t{1} << 47;

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

/// "0*128 1*128": thread * parts.
[[nodiscard]] std::string text_of(const std::vector<part_run>& parts);
[[nodiscard]] std::vector<part_run> read_parts(std::string_view text);

/// "interleave:0-7"; "weighted:0=3,2=1" if weights differ.
[[nodiscard]] std::string text_of(const std::vector<memory_weight>& memories);
/// "0-3,6": each has weight 1.
[[nodiscard]] std::vector<memory_weight> read_nodes(std::string_view text);
/// "0=3,2=1": a node and its weight, 1 to 255.
[[nodiscard]] std::vector<memory_weight> read_weights(std::string_view text);

/// "none", "blocked", "interleave", "interleave:0-7", "weighted:0=3,2=1", "cyclic:64K", "thread:3";
/// not for `layout::map`.
[[nodiscard]] std::string placement_text(const entry& what);
/// Fills in `how` and the fields that it needs.
void read_placement(std::string_view text, entry& into);

} // namespace nodewise::plans
