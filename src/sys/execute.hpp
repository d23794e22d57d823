// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nodewise::sys {

/// Puts a program in the place of this one; `command[0]` is searched as a shell does. It finds
/// SIGPIPE as this process found it. Returns the errno only if that failed.
[[nodiscard]] int execute(const std::vector<std::string>& command);

} // namespace nodewise::sys
