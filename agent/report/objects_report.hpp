// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Counts the objects of the process, and reports them when they end. What happens to an object is
// declared in agent/alloc/object.hpp.
#pragma once

#include "agent/protocol.h"

namespace nodewise::agent {

/// Writes the first record of a process.
void write_start(bool foreign_malloc) noexcept;
/// The process ends: reports the objects that are left. Without `wait` it leaves out those whose
/// table is locked.
void report_live(bool wait) noexcept;

/// For a new process.
void count_objects_afresh() noexcept;
[[nodiscard]] bool has_objects() noexcept;

/// The last record of a process.
struct end_record {
  nodewise_agent_end fixed;
  nodewise_agent_matched matched[NODEWISE_AGENT_MAX_RULES];
};
/// Fills in what is known of objects.
void count_objects(end_record& into) noexcept;
/// Prints messages for the user.
void say_what_is_not_placed() noexcept;

} // namespace nodewise::agent
