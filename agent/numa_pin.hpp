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
/// back, and the next touch decides where they are. They are not bound again.
void nodewise_agent_gives_back(void* start, std::size_t bytes) noexcept;
}

namespace nodewise::agent {

/// Starts this thread as soon as there is an object to look after: most programs that a script
/// starts have none. Call it again in a forked child, which has no such thread. `has_objects`:
/// there is one already.
void begin_numa_pinning(bool has_objects) noexcept;
/// There is a new object.
void numa_pin_also() noexcept;
/// Call it before a fork, with the table locked: a page that parent or child writes after it is
/// copied to the node of the writer.
void numa_unpin_all() noexcept;

struct numa_pinner_facts {
  int tid;           ///< 0: there is no such thread
  int refused_errno; ///< why pages are not bound any more, or 0
};
[[nodiscard]] numa_pinner_facts numa_pinner() noexcept;
/// The node that the page at an address is bound to, or -1.
[[nodiscard]] int node_pinned_to(const void* at) noexcept;

} // namespace nodewise::agent
