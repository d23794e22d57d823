// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where in the program an object is requested: a copy of the thread's stack, which the launcher
// unwinds later. Each place is recorded once, however often it requests objects.
#pragma once

#include "agent/alloc/object.hpp"

namespace nodewise::agent {

/// The number of the record with the present stack, up to `caller`, the return address into the
/// program, and beyond. Writes the record if there is none yet. 0: the thread's stack is not known,
/// or there are too many places. Neither allocates nor locks.
[[nodiscard]] std::uint32_t number_of_stack(const void* caller) noexcept;

/// Stacks without a record, because there were too many places.
[[nodiscard]] std::uint64_t stacks_left_out() noexcept;

/// Call it in a forked child, which has records of its own.
void forget_stacks() noexcept;

// When, by which thread and on which stack each object was allocated. Written at once, so that a
// process that is killed leaves its log.

/// Time, thread and stack of an allocation that `caller` asked for. All 0 outside trace mode. Call
/// it on the allocating thread.
[[nodiscard]] allocation note_allocation(const void* caller) noexcept;
/// Records the object's address since `time_ns`, its size, its caller and its name.
void log_allocation(const object& what, std::uint64_t time_ns) noexcept;
[[nodiscard]] std::uint64_t allocations_left_out() noexcept;
/// Call it in a forked child, which has a log of its own.
void forget_allocations() noexcept;

} // namespace nodewise::agent
