// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launch/plan.hpp"
#include "sys/kernel.hpp"

namespace nodewise::launch {

/// Replaces the affinity that the caller has set by all processors of the cpuset; returns the old
/// one. Throws `error` (system) if the kernel refuses.
[[nodiscard]] cpu_set widen_affinity(sys::kernel& kernel);

/// Applies the plan's processors and memory policy to this thread and its variables to this
/// process. Throws `error` (system) if the kernel refuses.
void apply(const plan& what, const std::string& report_file, sys::kernel& kernel);

/// Becomes the program. Throws `not_started` if that fails: with 127 if it is not found, else 126.
[[noreturn]] void become(const plan& what);

/// The exception that `become` throws, from the errno of exec.
[[noreturn]] void throw_not_started(const std::string& program, int errno_value);

} // namespace nodewise::launch
