// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace nodewise::launch {

/// The file that execvp would run, looked for along `search` (the value of PATH, or nullptr for the
/// system's own). Throws `not_started` with 127 if there is none, 126 if it may not be executed.
[[nodiscard]] std::string find_executable(const std::string& name, const char* search);

/// Why a library cannot be preloaded into a program.
struct obstacle {
  std::string why; ///< "/bin/busybox is statically linked"
  std::string hint;
};

/// nullopt if `library` can be preloaded into `file`, as far as that is known before it runs.
/// Follows the interpreter of a script.
[[nodiscard]] std::optional<obstacle> why_not_preloaded(const std::string& file,
                                                        const std::string& library);

} // namespace nodewise::launch
