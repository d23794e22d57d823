// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <nodewise/error.hpp>

namespace nodewise::cli {

/// The command's exit codes. `run` and `--on` end as the program that they start does.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int check_failed = 1;
inline constexpr int usage = 2;
inline constexpr int bad_input = 3;
inline constexpr int refused = 4;
inline constexpr int time_limit = 124;
inline constexpr int not_started = 125;
inline constexpr int not_executable = 126;
inline constexpr int not_found = 127;
inline constexpr int signal_base = 128;
} // namespace exit_code

struct exit_code_row {
  int code;
  std::string_view shown; ///< text, since "128+N" is not a number
  std::string_view meaning;
};

/// The table that `nodewise --help` and the manual print.
inline constexpr std::array exit_codes = {
    exit_code_row{exit_code::ok, "0", "success"},
    exit_code_row{exit_code::check_failed, "1", "a requested check failed (--strict, lab check)"},
    exit_code_row{exit_code::usage, "2", "invalid command line"},
    exit_code_row{exit_code::bad_input, "3",
                  "an input file cannot be read, or its content is invalid"},
    exit_code_row{exit_code::refused, "4", "the operating system refused a request"},
    exit_code_row{exit_code::time_limit, "124", "the time limit of a virtual machine was reached"},
    exit_code_row{exit_code::not_started, "125",
                  "nodewise or the lab failed before the program started"},
    exit_code_row{exit_code::not_executable, "126", "the program cannot be executed"},
    exit_code_row{exit_code::not_found, "127", "the program was not found"},
    exit_code_row{exit_code::signal_base, "128+N", "signal N ended nodewise or the program"},
};

[[nodiscard]] constexpr int exit_code_of(error_kind kind) noexcept {
  switch (kind) {
  case error_kind::usage:
    return exit_code::usage;
  case error_kind::input:
    return exit_code::bad_input;
  case error_kind::system:
    break;
  }
  return exit_code::refused;
}

} // namespace nodewise::cli
