// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The objects of the process with their mappings, and the sizes of requests that may become one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/alloc/kept.hpp"
#include "agent/alloc/object_table.hpp"

namespace nodewise::agent {

// NOLINTBEGIN(bugprone-dynamic-static-initializers): constinit, they are there from the start
/// Smaller requests go to the next allocator. This one comparison is all that most requests pay.
[[gnu::visibility("hidden")]] inline constinit std::size_t small_bytes = SIZE_MAX;
/// Requests of at least this many bytes may be large. No request is large until the settings are
/// read.
[[gnu::visibility("hidden")]] inline constinit std::size_t gate_bytes = SIZE_MAX;
/// The page size minus one, or 0 until a large object can exist.
[[gnu::visibility("hidden")]] inline constinit std::size_t page_mask = 0;
[[gnu::visibility("hidden")]] inline constinit object_table objects;
// NOLINTEND(bugprone-dynamic-static-initializers)

/// Large objects begin on a page, as does one in 256 small objects of 16 bytes. So the agent costs
/// the free() of all other objects only this test of an address.
[[nodiscard]] inline bool is_large(const void* start) noexcept {
  return (reinterpret_cast<std::uintptr_t>(start) & page_mask) == 0 && start != nullptr &&
         (kept_memory.is_lent(start) || objects.contains(start));
}

/// Gives the object a mapping of its own, with a page in front. Kept blocks are given up for it.
/// False if the kernel has no memory.
[[nodiscard]] bool map_for(object& what, std::size_t alignment) noexcept;
/// For the time before the next allocator is known.
[[nodiscard]] void* allocate_unplaced(std::size_t bytes, std::size_t alignment) noexcept;

} // namespace nodewise::agent
