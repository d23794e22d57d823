// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The program's file: where it is, whether it takes the agent, why it could not be started.
#pragma once

#include <optional>

#include <nodewise/error.hpp>

namespace nodewise::launch {

/// The program was not started. The command ends with the exit code that a shell would use.
class not_started : public error {
 public:
  static constexpr int refused = 125;
  static constexpr int not_executable = 126;
  static constexpr int not_found = 127;

  not_started(int exit_code, std::string asked, const std::string& answered, std::string hint,
              int errno_value = 0)
      : error(error_kind::system, std::move(asked), answered, std::move(hint), errno_value),
        exit_code_(exit_code) {}

  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

/// Why the program could not be executed, from the errno of execve. The exit code is 127 if it was
/// not found and 126 otherwise.
[[nodiscard]] not_started why_not_started(const std::string& program, int errno_value);

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
