// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The life of the process the agent is in, and what it tells of it.
#pragma once

#include "agent/object_table.hpp"

namespace nodewise::agent {

/// Gives a new object its number, and counts how its placement went.
void count_made(object& what) noexcept;
/// To be called before the memory of a freed object goes.
void report_freed(const object& what) noexcept;
/// The process ends. With `wait` false it may have been a signal handler that ends it.
void finish(bool wait) noexcept;

} // namespace nodewise::agent
