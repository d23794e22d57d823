// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The threads of the process: where those go that the program starts itself, and what is told of
// all of them.
#pragma once

#include "agent/protocol.h"
#include "agent/settings.hpp"

namespace nodewise::agent {

/// From here on threads are told apart and sent to their places. Called once, by the main thread.
void start_threads(const settings& asked) noexcept;
/// Starts a thread of the agent's own, which is neither announced nor counted. 0 or why not, as an
/// errno.
[[nodiscard]] int start_helper(void* (*run)(void*)) noexcept;
/// Fills in `own_threads`, `pinned`, `own_affinity` and `pin_errno`.
void count_threads(nodewise_agent_end& totals) noexcept;
/// Writes a record for each live thread, at most 1024, and for those that have ended, as many as
/// the table still knows: pinned ones, in trace mode all that the program started. Takes no lock.
void write_threads(const settings& asked, int pid) noexcept;
/// In a forked child: its only thread is a main thread, and counting begins anew.
void forget_threads() noexcept;

/// What is to be in place before another thread can touch the program's data. A few nanoseconds
/// when nothing is new.
void prepare_for_threads() noexcept;

} // namespace nodewise::agent
