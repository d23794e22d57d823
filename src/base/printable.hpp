// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Names of files, programs, functions and arrays may hold any byte. A terminal obeys control
// characters, so none of them is printed as it is.
#pragma once

#include <string>
#include <string_view>

namespace nodewise {

/// Which control characters `printable` leaves as they are.
enum class kept_controls {
  none,             ///< for a name, which is part of a line
  newlines,         ///< for a message, which may have several lines
  newlines_colours, ///< for a finished page: newlines, tabs and colour codes (ESC [ numbers m)
};

/// `text` with escapes ("\n", "\x1b") in place of control characters, of characters that change the
/// direction of text, and of bytes that are not UTF-8. All else is unchanged.
[[nodiscard]] std::string printable(std::string_view text,
                                    kept_controls kept = kept_controls::none);

} // namespace nodewise
