// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Carries out a plan: the program takes the place of this process, or runs to its end as a child.
// Then signals are passed on, its exit status is taken over, and its report is read.
#pragma once

#include <functional>

#include "launch/agent_report.hpp"
#include "launch/plan.hpp"
#include "sys/kernel.hpp"
#include "sys/programs.hpp"

namespace nodewise::launch {

/// Replaces the affinity that the caller has set by all processors of the cpuset; returns the old
/// one. Throws `error` (system) if the kernel refuses.
[[nodiscard]] cpu_set widen_affinity(sys::kernel& kernel);

/// Applies the plan's processors and memory policy to this thread and its variables to this
/// process. Throws `error` (system) if the kernel refuses.
void apply(const plan& what, const std::string& report_file, sys::kernel& kernel);

/// Becomes the program. Throws `not_started` if that fails: with 127 if it is not found, else 126.
[[noreturn]] void become(const plan& what);

/// How a supervised run ended.
struct outcome : sys::child_end {
  run_report report;
  bool rules_fit = true;             ///< each rule and plan entry matches some array
  std::vector<std::string> warnings; ///< why the report is missing or incomplete, for example
};

/// The number of objects a rule applied to, including those without their own report.
[[nodiscard]] std::uint64_t objects_of_rule(const process_report& process, std::size_t rule);

/// What is done beside the program while it runs. Both are called in this process, and must not
/// throw: with the pid before the program begins, and after its end.
struct beside_program {
  std::function<void(int pid)> begin;
  std::function<void()> end;
};

/// Runs the plan's program to its end; its report is read only if the plan asks for it. In the
/// child process, exceptions of `apply` and `become` leave this function, too, so that one place
/// reports errors and sets exit codes.
[[nodiscard]] outcome supervise(const plan& what, sys::kernel& kernel,
                                const beside_program& beside = {});

} // namespace nodewise::launch
