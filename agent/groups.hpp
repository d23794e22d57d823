// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Many small blocks of one site (the rows of a jagged array, the nodes of a list) as one object: an
// arena a site, filled in the order of allocation, and placed by that order once it stops growing.
//
// A site makes a group when it has asked for 16 KiB in two blocks or more, and one thread fills it;
// where a rule is for its group and the first thread asks, a first block of 16 to 128 KiB is in it
// already.
// Blocks that a site frees soon are not worth an arena: it is closed when a quarter of them is free
// again, and the next allocator serves the site from then on. Free blocks are not given out again,
// since the next one in order has another owner; 64 KiB without a block go back to the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/object_table.hpp"

namespace nodewise::agent {

// NOLINTBEGIN(bugprone-dynamic-static-initializers): constinit
/// Of all arenas; they follow each other.
[[gnu::visibility("hidden")]] extern constinit std::uintptr_t arenas_start;
[[gnu::visibility("hidden")]] extern constinit std::size_t arenas_bytes; ///< 0 until there is one
// NOLINTEND(bugprone-dynamic-static-initializers)

extern constinit bool arenas_shrunk; ///< parts of the range may be somebody else's

/// Whether an arena has the address in use.
[[nodiscard]] bool is_in_arena(const void* start) noexcept;

[[nodiscard]] inline bool is_grouped(const void* start) noexcept {
  return reinterpret_cast<std::uintptr_t>(start) - arenas_start < arenas_bytes &&
         (!arenas_shrunk || is_in_arena(start));
}

/// No more groups, and the address space that they have not used goes back: the program is about to
/// limit its own.
void shrink_arenas() noexcept;

/// A block of the caller's group; nullptr if it has none (yet, or any more): then the request is
/// the next allocator's. Aligned to 16.
[[nodiscard]] void* allocate_grouped(std::size_t bytes, const void* caller) noexcept;
/// Whether a block that no group took is an object of its own: in a profile, from 16 KiB on, the
/// first 256 blocks of a site. Counts one more of them.
[[nodiscard]] bool may_stand_alone(std::size_t bytes, const void* caller) noexcept;
/// A request that goes another way. If it is as large as an index of the blocks that follow, these
/// are a new array, unless it is the old index that has grown.
void note_other_request(std::size_t bytes, const void* caller) noexcept;
/// False if it is free already.
[[nodiscard]] bool release_grouped(void* start) noexcept;
[[nodiscard]] std::size_t grouped_bytes(const void* start) noexcept;
/// Where the arena of a block begins.
[[nodiscard]] std::uintptr_t arena_of(const void* block) noexcept;

/// Places the groups that have grown since they were placed last. To be called before threads start
/// to use them; cheap if nothing has grown.
void settle_groups() noexcept;
/// Reports the groups that have not been reported yet: the process ends. Without `wait` not while
/// another thread settles them.
void report_groups(bool wait) noexcept;
// Around fork(): the child must not inherit groups that another thread was placing.
void lock_groups() noexcept;
void unlock_groups() noexcept;
/// Sites that made a group.
[[nodiscard]] std::uint64_t count_groups() noexcept;

} // namespace nodewise::agent
