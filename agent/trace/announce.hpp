// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// In a virtual machine whose memory traffic is counted, rows of NOPs (nodewise/marker.h) report to
// the counter which program and thread runs and what it owns. The functions do nothing unless the
// settings ask for it. They never allocate, lock or change errno.
#pragma once

#include "agent/alloc/object.hpp"

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
/// This task is the agent's own and must not be counted.
void announce_helper() noexcept;
/// The object is new, has moved, or has changed its size.
void announce_object(const object& what) noexcept;
void announce_freed(const object& what) noexcept;
/// The program ends. Reports its present mappings, which name its code and the rest of its memory.
void announce_end() noexcept;

} // namespace nodewise::agent
