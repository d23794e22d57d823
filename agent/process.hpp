// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The life of the agent's process, and the records that report it.
#pragma once

#include "agent/object_table.hpp"

namespace nodewise::agent {

/// Whether trace mode is on and records can still be written.
[[nodiscard]] bool is_tracing() noexcept;
/// Counts a record that could not be made for lack of memory.
void count_unmade() noexcept;
/// Writes a record of `bytes` bytes, or counts it as lost if there is no room.
void tell(nodewise_agent_kind kind, nodewise_agent_header& record, std::size_t bytes) noexcept;

/// Gives a new object its number, and its allocation if that is not known yet. Counts whether it
/// was placed.
void count_made(object& what) noexcept;
/// The object has moved or changed its size.
void tell_moved(const object& what) noexcept;
/// Call it before the memory of a freed object goes away.
void report_freed(const object& what) noexcept;
/// Reports the thread that binds pages, and how many it has bound.
void report_numa_pinner() noexcept;
/// Records that the calling task is one of the agent's own processes (agent/own_descriptors.hpp).
void tell_helper() noexcept;
/// The process ends. `wait` is false if a signal handler may have ended it.
void finish(bool wait) noexcept;

} // namespace nodewise::agent
