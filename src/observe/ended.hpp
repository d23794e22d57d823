// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sys/process.hpp"

namespace nodewise::observe {

/// Throws `error` (system): the process ended while it was observed.
[[noreturn]] void throw_ended(int pid);

/// Throws `error` for a process that cannot be observed: (usage) if there is no process with that
/// pid or it is a kernel thread; (system) if it belongs to another user.
[[noreturn]] void throw_unreadable(sys::process& which, int errno_value);

} // namespace nodewise::observe
