// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Messages of the agent to the user, on the program's stderr.
#pragma once

namespace nodewise::agent {

/// Remembers which file descriptor 2 is when the program begins. From then on no message goes
/// anywhere else: a program that closes 2 has a file of its own there next, such as a database.
void remember_stderr() noexcept;

/// One line, without stdio's buffers and without an allocation. Silent if descriptor 2 is closed,
/// or is another file than at the start.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept;

} // namespace nodewise::agent
