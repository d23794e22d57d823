// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Counts the objects of the process, and reports them when they end.
#pragma once

#include "agent/alloc/object.hpp"

namespace nodewise::agent {

/// Gives a new object its number, and its allocation if that is not known yet. Counts whether it
/// was placed.
void count_made(object& what) noexcept;
/// The object has moved or changed its size.
void tell_moved(const object& what) noexcept;
/// Call it before the memory of a freed object goes away.
void report_freed(const object& what) noexcept;
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
