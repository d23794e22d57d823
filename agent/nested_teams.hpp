// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where the threads of nested parallel regions stand. libgomp starts the threads of an inner team
// anew for each region, so that the order of their start in the process says nothing; but while it
// starts them, its own functions say which team is begun and by whom.
#pragma once

#include <cstdint>

#include "agent/protocol.h"

namespace nodewise::agent {

/// The position of a thread in teams within teams.
struct inner_position {
  std::uint32_t number = 0;                             ///< among the threads of all inner teams
  std::uint32_t sizes[NODEWISE_AGENT_TEAM_LEVELS] = {}; ///< outermost first, then 0; none: no inner
};

/// Enters it into a thread's record.
inline void tell_inner(const inner_position& of, nodewise_agent_thread& into) noexcept {
  into.inner_number = of.number;
  for (int level = 0; level < NODEWISE_AGENT_TEAM_LEVELS; ++level) {
    into.team_sizes[level] = of.sizes[level];
  }
}

/// Finds libgomp's functions where a program enters a parallel region for the first time.
/// `door`: the function of the library that is entered; `caller`: who enters it. Takes the loader's
/// lock.
void learn_openmp_library(const void* door, const void* caller) noexcept;
/// Of the thread that the calling thread starts now, which begins with `code`.
[[nodiscard]] inner_position next_inner_position(const void* code) noexcept;

} // namespace nodewise::agent
