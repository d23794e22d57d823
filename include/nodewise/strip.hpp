// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A picture of memory in text: each character is the node that most of one part of a range is on.
//
//     #include <nodewise/team_layout.hpp>
//
//     const nodewise::team_layout team(nodewise::topology::system(), nodewise::bind_policy::close);
//     const nodewise::region memory(16 << 20, nodewise::blocked(team.owners()));
//     std::memset(memory.data(), 1, memory.size_bytes() / 2); // the other half is not in memory
//     std::puts(nodewise::strip(memory).c_str());
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <nodewise/region.hpp>

namespace nodewise::inline v0 {

/// The default number of characters in a picture.
inline constexpr std::size_t default_strip_columns = 48;

/// Draws where a range is, and compares with `extents`:
/// "000000001111111122222222........  24.0 MiB, 75.0 % in memory, 100 % of that on its owner".
/// Digits and letters are nodes (0-9, a-z, then `#`), `.` is not in memory, `?` is unknown. Each
/// character samples a few pages of its part; the figures count all pages.
[[nodiscard]] NODEWISE_API std::string strip(std::span<const std::byte> range,
                                             std::span<const extent> extents,
                                             std::size_t columns = default_strip_columns);
/// Draws a region, compared with its current extents.
[[nodiscard]] NODEWISE_API std::string strip(const region& of,
                                             std::size_t columns = default_strip_columns);

} // namespace nodewise::inline v0
