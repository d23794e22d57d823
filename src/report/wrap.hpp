// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/style.hpp"

namespace nodewise::report {

/// `text` in lines of at most `width` columns, broken at spaces; a longer word gets a line of its
/// own. Keeps line breaks in `text`. Returns at least one line.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// The same as one text: `indent` spaces before every line but the first.
[[nodiscard]] std::string wrap_indented(std::string_view text, std::size_t width,
                                        std::size_t indent);

/// The same at the terminal's width; in a pipe or a file, lines stay whole.
[[nodiscard]] std::string wrap_on_terminal(std::string_view text, const style& how,
                                           std::size_t indent);

/// `text` followed by spaces up to `width` columns.
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);
/// `text` after spaces up to `width` columns.
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);

} // namespace nodewise::report
