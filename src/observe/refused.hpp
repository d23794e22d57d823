// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Errors for what the kernel does not permit.
#pragma once

#include <cstddef>

#include "sys/process.hpp"

namespace nodewise::observe {

/// Throws `error` (system): the process ended while it was observed.
[[noreturn]] void throw_ended(int pid);

/// Throws `error` for a process that cannot be observed: (usage) if there is no process with that
/// pid or it is a kernel thread; (system) if it belongs to another user.
[[noreturn]] void throw_unreadable(sys::process& which, int errno_value);

/// Throws `error` (system): events of this thread (0: for rings) may not be opened; the hint says
/// what would permit it.
[[noreturn]] void throw_events_refused(int tid, std::size_t events, int errno_value);
/// Throws `error` (system): there is no memory for rings, not even of the smallest size.
[[noreturn]] void throw_rings_refused(std::size_t rings, std::size_t bytes, int errno_value);

} // namespace nodewise::observe
