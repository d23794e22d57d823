// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Messages of the agent to the user, on the program's stderr.
#pragma once

namespace nodewise::agent {

/// Remembers which file descriptor 2 is when the program begins. Messages go only to this file: a
/// program that closes 2 may next open a file of its own there, such as a database.
void remember_stderr() noexcept;

/// Writes one line without stdio's buffers and without an allocation. Writes nothing if descriptor
/// 2 is closed, or is another file than at the start.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept;

} // namespace nodewise::agent
