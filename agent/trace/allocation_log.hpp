// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Trace mode: when, by which thread and on which stack each object was allocated. Written at once,
// so that a process that is killed leaves its log.
#pragma once

#include <cstdint>

#include "agent/alloc/object.hpp"

namespace nodewise::agent {

/// Time, thread and stack of an allocation that `caller` asked for. All 0 outside trace mode. Call
/// it on the allocating thread.
[[nodiscard]] allocation note_allocation(const void* caller) noexcept;
/// Records the object's address since `time_ns`, its size, its caller and its name.
void log_allocation(const object& what, std::uint64_t time_ns) noexcept;
[[nodiscard]] std::uint64_t allocations_left_out() noexcept;
/// Call it in a forked child, which has a log of its own.
void forget_allocations() noexcept;

} // namespace nodewise::agent
