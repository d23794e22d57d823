// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Pictures in the formats of pixels, by the programs that make them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/frame/invocation.hpp"

namespace nodewise::cli {

/// The SVG itself; if -o names a FILE.png, what rsvg-convert makes of it. Throws `error` (system)
/// if that program is missing or fails.
[[nodiscard]] std::string svg_or_png(std::string svg, const invocation& given);

/// The picture as PNG: smaller if it is wider than `most_width` pixels (0: no limit). Throws
/// `error` (system), which begins with `asked`.
[[nodiscard]] std::string png_of(std::string_view svg, std::string_view asked,
                                 std::size_t most_width = 0);

/// A PNG as Sixel, by img2sixel. Throws as `png_of`.
[[nodiscard]] std::string sixel_of(std::string_view png, std::string_view asked);

} // namespace nodewise::cli
