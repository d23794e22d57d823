// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nodewise::cli {

/// Puts a program in the place of this one; `command[0]` is searched as a shell does. Returns the
/// errno only if that failed.
[[nodiscard]] int execute(const std::vector<std::string>& command);

} // namespace nodewise::cli
