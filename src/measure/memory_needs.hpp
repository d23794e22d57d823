// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Whether what a point takes is there: where memory is not, the kernel swaps or kills.
#pragma once

#include <span>

#include "measure/points.hpp"

namespace nodewise::measure {

/// Throws `error` (usage) that names the first point whose buffers do not fit into `memory`.
void require_memory(const topology& on, std::span<const point> points,
                    const memory_to_have& memory);

} // namespace nodewise::measure
