// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A PNG as what a terminal reads to draw it between lines of text.
#pragma once

#include <string>
#include <string_view>

namespace nodewise::cli {

/// https://sw.kovidgoyal.net/kitty/graphics-protocol
[[nodiscard]] std::string kitty_image(std::string_view png);
/// https://iterm2.com/documentation-images.html
[[nodiscard]] std::string iterm2_image(std::string_view png);

} // namespace nodewise::cli
