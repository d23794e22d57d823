// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// In a virtual machine whose memory traffic is counted, the counter is told which program and
// thread runs and what it owns, by rows of NOPs (nodewise/marker.h). Each function says nothing
// unless the settings ask for it; none allocates, locks or changes errno.
#pragma once

#include "agent/object_table.hpp"

namespace nodewise::agent {

/// This task begins a program.
void announce_program(int pid) noexcept;
/// This task is the child of a fork of `parent`.
void announce_fork(int pid, int parent) noexcept;
/// This task is a new thread of the program.
void announce_thread(int pid) noexcept;
/// The calling thread's stack, and its thread-local data in one piece with it, from `start` to
/// `end`: the kernel's list of mappings names the first thread's only.
void announce_stack(const void* start, const void* end) noexcept;
/// This task is the agent's own, and not to be counted.
void announce_helper() noexcept;
/// The object is there, or somewhere else or of another size than before.
void announce_object(const object& what) noexcept;
void announce_freed(const object& what) noexcept;
/// The program ends: its mappings as they are now, which name its code and the rest of its memory.
void announce_end() noexcept;

} // namespace nodewise::agent
