// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nodewise::observe {

/// How a program ended that was looked at.
struct program_end {
  int start_errno = 0; ///< why it could not be executed; then there is nothing else
  int wait_status = 0; ///< as waitpid gives it
  bool looked = false;
};

struct program_looks {
  /// Called once: after this time, or without it just before the program ends, when it is stopped
  /// with all its memory.
  std::optional<std::chrono::milliseconds> after;
  std::function<void(int pid)> look;
  /// Called while it runs: as often as `every` says, or else now and then.
  std::function<void(int pid)> pass_by;
  std::optional<std::chrono::milliseconds> every;
};

/// Runs a program to its end, passing signals on, and looks at it meanwhile. Throws `error`
/// (system) if no process can be made, or if it may not be traced. What `look` throws goes on after
/// the program was let go.
[[nodiscard]] program_end run_and_look(const std::vector<std::string>& command,
                                       const program_looks& looks);

} // namespace nodewise::observe
