// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sys/process.hpp"

namespace nodewise::observe {

/// Throws `error` (system): the process ended while it was looked at.
[[noreturn]] void throw_ended(int pid);

/// Throws `error` for a process that cannot be looked at: (usage) where there is none of that
/// number, or it is a thread of the kernel; (system) where it is somebody else's.
[[noreturn]] void throw_unreadable(sys::process& which, int errno_value);

} // namespace nodewise::observe
