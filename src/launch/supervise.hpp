// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Runs a program to its end: passes signals on, takes over its exit status, reads its report.
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
  bool rules_fit = true;             ///< each rule and plan entry matches some array
  std::vector<std::string> warnings; ///< why the report is missing or incomplete
};

/// The number of objects a rule applied to, including those without their own report.
[[nodiscard]] std::uint64_t objects_of_rule(const process_report& process, std::size_t rule);

/// Runs the plan's program to its end. In the child process, exceptions of `apply` and `become`
/// leave this function, too, so that one place reports errors and sets exit codes.
[[nodiscard]] outcome supervise(const plan& what, sys::kernel& kernel);

} // namespace nodewise::launch
