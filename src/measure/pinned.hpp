// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Runs a function on threads that are bound to processors.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include <nodewise/id.hpp>

namespace nodewise::measure {

/// Runs `body(k)` on a thread of its own on processor `cpus[k]`, all at the same time, and waits
/// for them. If a thread cannot be bound, runs nothing and throws `error` (system). Rethrows what
/// a body threw (of several the first in order): bodies that wait for each other must not throw
/// in between.
void run_pinned(std::span<const cpu_id> cpus, const std::function<void(std::size_t)>& body);

} // namespace nodewise::measure
