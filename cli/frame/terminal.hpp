// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "cli/frame/invocation.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// The style for a descriptor, as --color asks.
[[nodiscard]] report::style style_of(int descriptor, const invocation& given);

/// Writes all of it to a file descriptor. Returns 0 or errno.
[[nodiscard]] int write_all(int descriptor, std::string_view text) noexcept;

/// Writes all of it to standard output. On a terminal, control characters other than newlines, tabs
/// and colours become escapes (`printable`). Throws `error` (system) if the text cannot be written:
/// an undelivered result is not success.
void write_out(std::string_view text);

/// The same for text that moves the cursor; names in it must already be `printable`.
void write_screen(std::string_view text);

/// Writes to standard error, escaped on a terminal as in `write_out`. Ignores failures: there is
/// nowhere to report them.
void write_error(std::string_view text);

/// Does the work of a command line. An exception is printed on standard error and becomes the exit
/// code. `work` may itself fill in `given`.
[[nodiscard]] int guard(const invocation& given, const std::function<int()>& work);

} // namespace nodewise::cli
