// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Runs a program once and measures it. While the program runs, this process sleeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nodewise::sys {

struct timed_program {
  std::vector<std::string> command;        ///< the first word is searched as a shell does
  std::vector<std::string> environment;    ///< all of it: "NAME=VALUE"
  std::string input = "/dev/null";         ///< the file that it reads as standard input
  bool keep_output = false;                ///< otherwise output and errors are discarded
  std::optional<double> most_seconds = {}; ///< then it is killed, with what it has started
};

struct timed_end {
  enum class cause {
    ended,
    timed_out,
    interrupted, ///< SIGINT, SIGTERM or SIGHUP came here
    not_started,
  };
  cause how = cause::ended;
  int errno_value = 0; ///< of not_started
  int wait_status = 0; ///< as waitpid gives it
  double wall_seconds = 0;
  double user_seconds = 0; ///< with the processes that it has waited for
  double system_seconds = 0;
  std::uint64_t most_resident_bytes = 0; ///< of the largest process
  std::uint64_t disk_bytes = 0;          ///< read from disks, not from the page cache
  std::string output;                    ///< standard output, at most 64 MiB of it
  std::string errors;                    ///< standard error, likewise
};

/// Of this process: "NAME=VALUE".
[[nodiscard]] std::vector<std::string> own_environment();

/// Runs it in a process group of its own and waits for its end. Processes that it leaves behind are
/// killed only after a timeout or an interruption.
[[nodiscard]] timed_end run_timed(const timed_program& what);

} // namespace nodewise::sys
