// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nodewise::sys {

/// The words as exec and posix_spawn take them, which change none; valid as long as `command`.
[[nodiscard]] std::vector<char*> words_of(const std::vector<std::string>& command);

/// Replaces this process by a program; `command[0]` is searched as a shell does. Restores SIGPIPE
/// as this process found it. Returns only on failure, with the errno.
[[nodiscard]] int execute(const std::vector<std::string>& command);

} // namespace nodewise::sys
