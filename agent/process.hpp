// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The life of the process the agent is in, and what it tells of it.
#pragma once

#include "agent/object_table.hpp"

namespace nodewise::agent {

/// Whether all is to be told that is known of objects, and can be told still.
[[nodiscard]] bool is_tracing() noexcept;
/// Counts a record that could not be made for want of memory.
void count_unmade() noexcept;
/// Writes a record of `bytes` bytes, or counts that there was no room for it.
void tell(nodewise_agent_kind kind, nodewise_agent_header& record, std::size_t bytes) noexcept;

/// Gives a new object its number and, unless that is known already, its allocation, and counts how
/// its placement went.
void count_made(object& what) noexcept;
/// The object is elsewhere or of another size now.
void tell_moved(const object& what) noexcept;
/// To be called before the memory of a freed object goes.
void report_freed(const object& what) noexcept;
/// Reports the thread that binds pages, and how many it has bound.
void report_numa_pinner() noexcept;
/// Records that the calling task is one of the agent's own processes (agent/own_descriptors.hpp).
void tell_helper() noexcept;
/// The process ends. With `wait` false it may have been a signal handler that ends it.
void finish(bool wait) noexcept;

} // namespace nodewise::agent
