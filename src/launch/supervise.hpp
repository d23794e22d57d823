// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Running a program and staying with it: signals passed on, its end taken over, its report read.
#pragma once

#include <cstddef>
#include <cstdint>
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
  bool rules_fit = true;             ///< each rule and each entry of the plan some array
  std::vector<std::string> warnings; ///< why the report is missing or incomplete
};

/// How many objects a rule decided about, also of those that have no report of their own.
[[nodiscard]] std::uint64_t objects_of_rule(const process_report& process, std::size_t rule);

/// Runs the plan's program to its end. In the child process, what `apply` and `become` throw leaves
/// this function, too, so that errors are told and exit codes given in one place.
[[nodiscard]] outcome supervise(const plan& what, sys::kernel& kernel);

} // namespace nodewise::launch
