// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <nodewise/placement.hpp>

#include "place/engine.hpp"
#include "sys/kernel.hpp"

namespace nodewise::engine {

/// Totals of the window's mappings, from /proc/self/numa_maps. Pages of a mapping with several
/// owners are counted on their nodes, and as unknown: the file does not show whose they are. False
/// if the file cannot be read, or if a mapping extends beyond the window: it is not known which of
/// its pages are inside.
[[nodiscard]] bool query_by_numa_maps(sys::kernel& kernel, const page_window& window,
                                      std::span<const extent> extents, residency& result);

} // namespace nodewise::engine
