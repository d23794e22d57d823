// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A picture of memory: one character a part of a range, the node that most of it is on.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <nodewise/distribution.hpp>
#include <nodewise/export.hpp>
#include <nodewise/region.hpp>

namespace nodewise::inline v0 {

/// Characters in a picture, if nobody says.
inline constexpr std::size_t default_strip_columns = 48;

/// "000000001111111122222222........  24.0 MiB, 75.0 % in memory, 100 % of that on its owner":
/// digits and letters are nodes (0-9, a-z, then `#`), `.` is not in memory, `?` cannot be told.
/// Each column asks about a few pages of its part, the line of figures about all of them.
[[nodiscard]] NODEWISE_API std::string strip(std::span<const std::byte> range,
                                             std::span<const extent> extents,
                                             std::size_t columns = default_strip_columns);
/// Of a region, against what it was asked last.
[[nodiscard]] NODEWISE_API std::string strip(const region& of,
                                             std::size_t columns = default_strip_columns);

} // namespace nodewise::inline v0
