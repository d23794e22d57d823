// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

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

} // namespace nodewise::launch
