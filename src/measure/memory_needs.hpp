// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Whether a point's memory is available: without it, the kernel would swap or kill processes.
#pragma once

#include <span>

#include "measure/points.hpp"

namespace nodewise::measure {

/// Throws `error` (usage) naming the first point whose buffers do not fit into `memory`.
void require_memory(const topology& on, std::span<const point> points,
                    const memory_to_have& memory);

} // namespace nodewise::measure
