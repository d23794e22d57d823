// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Running a program and staying with it: signals passed on, its end taken over, its report read.
#pragma once

#include <string>
#include <vector>

#include "launch/agent_report.hpp"
#include "launch/plan.hpp"
#include "sys/kernel.hpp"

namespace nodewise::launch {

/// How a supervised run ended.
struct outcome {
  int wait_status = 0;  ///< as waitpid gives it
  bool started = false; ///< false: the child has said on stderr why not
  run_report report;
  bool rules_fit = true;             ///< each rule some array
  std::vector<std::string> warnings; ///< why the report is missing or incomplete

  /// 0..255, or 128 + N after signal N.
  [[nodiscard]] int exit_code() const noexcept;
};

/// Runs the plan's program to its end. In the child process, what `apply` and `become` throw leaves
/// this function, too, so that errors are told and exit codes given in one place.
[[nodiscard]] outcome supervise(const plan& what, sys::kernel& kernel);

/// Ends this process as the program ended: with its exit code, or by the same signal.
[[noreturn]] void end_as(const outcome& how);

} // namespace nodewise::launch
