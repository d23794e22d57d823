// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where the kernel's NUMA balancing is on, it unmaps pages now and then to see who uses them, and
// moves them there. Trace mode wants its samples but not its moves: it binds the pages that are in
// memory to the node that they are on, with the flag that lets the kernel go on sampling
// (MPOL_F_NUMA_BALANCING, Linux 5.12).
//
// Only pages that are there already are bound, so that first touch decides about all others; and
// none that has a policy of its own, or that a forked process has too, which is copied when it is
// written. A thread of the agent's own looks after them several times a second: the kernel begins a
// second after a thread has, and nothing in the program says when its pages are touched.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/object_table.hpp"

extern "C" {
/// For the library that stands in front of madvise() (agent/reads.cpp): the program gives pages
/// back, and who touches them next decides where they are. They are not held again.
void nodewise_agent_gives_back(void* start, std::size_t bytes) noexcept;
}

namespace nodewise::agent {

/// From now on there is such a thread as soon as there is an object to look after: most programs
/// that a script starts have none. In a forked child again, which has no such thread.
/// `has_objects`: there is one already.
void begin_holding(bool has_objects) noexcept;
/// A new object has come.
void hold_also() noexcept;
/// Before a fork, with the table locked: parent and child copy what either writes to where it is
/// written.
void let_go_of_all() noexcept;

struct holder_facts {
  int tid;           ///< 0: there is no such thread
  int refused_errno; ///< why pages are not held any more, or 0
};
[[nodiscard]] holder_facts holder() noexcept;
/// The node that the page at an address is held on, or -1.
[[nodiscard]] int node_held_on(const void* at) noexcept;

} // namespace nodewise::agent
