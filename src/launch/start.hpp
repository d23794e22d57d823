// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launch/plan.hpp"
#include "sys/kernel.hpp"

namespace nodewise::launch {

/// Leaves the affinity that the caller has set, for all processors of the cpuset; returns what it
/// was. Throws `error` (system) if the kernel refuses.
[[nodiscard]] cpu_set widen_affinity(sys::kernel& kernel);

/// Gives this thread the plan's processors and memory policy, this process its variables. Throws
/// `error` (system) for what the kernel refuses.
void apply(const plan& what, const std::string& report_file, sys::kernel& kernel);

/// Becomes the program. Throws `not_started` if that fails: 127 if it is not there, else 126.
[[noreturn]] void become(const plan& what);

/// The exception that `become` throws, from the errno of exec.
[[noreturn]] void throw_not_started(const std::string& program, int errno_value);

} // namespace nodewise::launch
