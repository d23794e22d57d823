// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nodewise::observe {

/// How an observed program ended.
struct program_end {
  int start_errno = 0; ///< why it could not be executed; then nothing else is set
  int wait_status = 0; ///< as waitpid gives it
  bool looked = false;
};

struct program_looks {
  /// Time of the one call of `look`; without it, `look` is called just before the program ends,
  /// while it is stopped with all its memory.
  std::optional<std::chrono::milliseconds> after;
  std::function<void(int pid)> look;
  /// Called while it runs: every `every`, otherwise now and then.
  std::function<void(int pid)> pass_by;
  std::optional<std::chrono::milliseconds> every;
};

/// Runs a program to its end, passing signals on, and observes it meanwhile. Throws `error`
/// (system) if no process can be made, or if it may not be traced. Exceptions of `look` are
/// rethrown after the program is released.
[[nodiscard]] program_end run_and_look(const std::vector<std::string>& command,
                                       const program_looks& looks);

} // namespace nodewise::observe
