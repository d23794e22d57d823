// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <nodewise/placement.hpp>

#include "place/engine.hpp"
#include "sys/kernel.hpp"

namespace nodewise::engine {

/// Totals of the mappings that lie wholly in the window, by /proc/self/numa_maps. Pages of mappings
/// that reach beyond it are left out, since no one can say which of them are inside. False if the
/// file cannot be read.
[[nodiscard]] bool query_by_numa_maps(sys::kernel& kernel, const page_window& window,
                                      std::span<const extent> extents, residency& result);

} // namespace nodewise::engine
