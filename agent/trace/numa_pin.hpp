// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// If NUMA balancing is on, the kernel unmaps pages now and then to sample which threads use them,
// and migrates the pages there. Trace mode needs the samples without the migration: it binds the
// pages in memory to their present node, with the flag that lets the kernel go on sampling
// (MPOL_F_NUMA_BALANCING, in mbind since Linux 5.15).
//
// Only pages that are in memory are bound, so that first touch places all others. Pages that have a
// policy of their own are skipped, and so are pages shared with a forked process, which are copied
// when they are written. A thread of the agent looks for new pages several times a second: the
// kernel begins to sample one second after a thread starts, and a first touch is not reported.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

extern "C" {
/// For the library that wraps madvise() (agent/trace/reads.cpp): the program gives pages back, and
/// the next touch places them. They are not bound again.
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

/// The thread, or 0.
[[nodiscard]] int numa_pinner_tid() noexcept;
/// Reports the thread, and how many pages it has bound.
void report_numa_pinner() noexcept;
/// Of objects that have ended.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
[[gnu::visibility("hidden")]] inline constinit std::atomic<std::uint64_t> numa_pinned_pages{0};

} // namespace nodewise::agent
