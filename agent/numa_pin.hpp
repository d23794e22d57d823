// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// If NUMA balancing is on, the kernel unmaps pages now and then to sample which threads use them,
// and migrates the pages there. Trace mode needs the samples without the migration: it binds the
// pages in memory to their present node, with the flag that lets the kernel go on sampling
// (MPOL_F_NUMA_BALANCING, Linux 5.12).
//
// Only pages that are in memory are bound, so that first touch places all others. Pages that have a
// policy of their own are skipped, and so are pages shared with a forked process, which are copied
// when they are written. A thread of the agent looks for new pages several times a second: the
// kernel begins to sample one second after a thread starts, and a first touch is not reported.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/object_table.hpp"

extern "C" {
/// For the library that wraps madvise() (agent/reads.cpp): the program gives pages back, and the
/// next touch places them. They are not bound again.
void nodewise_agent_gives_back(void* start, std::size_t bytes) noexcept;
}

namespace nodewise::agent {

/// Starts this thread as soon as there is an object: most programs that a script starts have no
/// objects. Call it again in a forked child, which does not inherit the thread. `has_objects`:
/// there is an object already.
void begin_numa_pinning(bool has_objects) noexcept;
/// There is a new object.
void numa_pin_also() noexcept;
/// Call it before a fork, with the table locked: a page that parent or child writes after the fork
/// is copied to the node of the writer.
void numa_unpin_all() noexcept;

struct numa_pinner_facts {
  int tid;           ///< 0: no thread runs
  int refused_errno; ///< why pages are no longer bound, or 0
};
[[nodiscard]] numa_pinner_facts numa_pinner() noexcept;
/// The node that the page at an address is bound to, or -1.
[[nodiscard]] int node_pinned_to(const void* at) noexcept;

} // namespace nodewise::agent
