// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The threads of the process: the places of the threads that the program starts itself, and the
// records of all threads.
#pragma once

#include <pthread.h>

#include "agent/interposed.hpp"
#include "agent/settings.hpp"

namespace nodewise::agent {

/// From here on threads are classified and pinned to their places. Called once, by the main thread.
void start_threads(const settings& asked) noexcept;
/// Fills in `own_threads`, `pinned`, `own_affinity` and `pin_errno`.
void count_threads(nodewise_agent_end& totals) noexcept;
/// Writes a record for each live thread, at most 1024, and for each ended thread still in the table
/// that was pinned or, in trace mode, started by the program. Takes no lock.
void write_threads(const settings& asked, int pid) noexcept;
/// In a forked child: its only thread is a main thread, and counting begins anew.
void forget_threads() noexcept;

/// Places what must be in place before another thread can touch the program's data. Takes a few
/// nanoseconds if nothing is new.
void prepare_for_threads() noexcept;

/// POSIX returns the error; C11 returns one number for all errors.
template <int error, class... Parameters>
int no_threads(Parameters...) noexcept {
  return error;
}

// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
[[gnu::visibility("hidden")]] inline constinit next_function<int(
    pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> next_pthread_create{
    "pthread_create", no_threads<ENOSYS>};

} // namespace nodewise::agent
