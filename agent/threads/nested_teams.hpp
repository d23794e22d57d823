// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The positions of the threads of nested parallel regions. libgomp starts new threads for an inner
// team in each region, so the order in which the process starts them has no meaning. But while
// libgomp starts them, its own functions report which team begins and which thread begins it.
#pragma once

#include <cstdint>

#include "agent/protocol.h"

namespace nodewise::agent {

/// The position of a thread in teams within teams.
struct inner_position {
  std::uint32_t number = 0;                             ///< among the threads of all inner teams
  std::uint32_t sizes[NODEWISE_AGENT_TEAM_LEVELS] = {}; ///< outermost first, then 0; all 0: none
};

/// Finds libgomp's functions when a program enters a parallel region for the first time.
/// `door`: the library's function that the program calls; `caller`: the code that calls it. Takes
/// the loader's lock.
void learn_openmp_library(const void* door, const void* caller) noexcept;
/// The position of the thread that the calling thread starts now, which begins with `code`.
[[nodiscard]] inner_position next_inner_position(const void* code) noexcept;

} // namespace nodewise::agent
