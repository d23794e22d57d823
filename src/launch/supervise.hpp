// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Running a program and staying with it: signals passed on, its end taken over, its report read.
#pragma once

#include <string>
#include <vector>

#include "launch/agent_report.hpp"
#include "launch/child.hpp"
#include "launch/plan.hpp"
#include "sys/kernel.hpp"

namespace nodewise::launch {

/// How a supervised run ended.
struct outcome : child_end {
  run_report report;
  bool rules_fit = true;             ///< each rule some array
  std::vector<std::string> warnings; ///< why the report is missing or incomplete
};

/// Runs the plan's program to its end. In the child process, what `apply` and `become` throw leaves
/// this function, too, so that errors are told and exit codes given in one place.
[[nodiscard]] outcome supervise(const plan& what, sys::kernel& kernel);

} // namespace nodewise::launch
