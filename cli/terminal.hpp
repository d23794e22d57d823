// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "cli/invocation.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// The style of a descriptor, with what --color says about it.
[[nodiscard]] report::style style_of(int descriptor, const invocation& given);

/// Writes all of it to standard output. On a terminal control characters other than newlines, tabs
/// and colours become escapes (`printable`). Throws `error` (system) if that cannot be done: a
/// result that nobody got is no success.
void write_out(std::string_view text);

/// The same for text that moves the cursor, and so must have no names in it that are not
/// `printable`.
void write_screen(std::string_view text);

/// Writes to standard error, to a terminal as `write_out` does. A failure is ignored: there is
/// nowhere to report it.
void write_error(std::string_view text);

} // namespace nodewise::cli
