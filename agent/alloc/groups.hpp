// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Many small blocks of one site (the rows of a jagged array, the nodes of a list) as one object.
// Each site has an arena, which is filled in the order of allocation. The arena is placed in that
// order once it stops growing.
//
// A site makes a group when it has asked for 16 KiB in two blocks or more. One thread fills the
// group. If a rule names the group and the first thread asks, the first block is in it already;
// otherwise the arena has room for the blocks before, so that in a profile and with a plan made
// from it all others lie at the same places. Short-lived blocks are not worth an arena: it is
// closed when a quarter of its blocks is free again, and the next allocator serves the site from
// then on. Free blocks are not reused, since the next block in order has another owner. 64 KiB
// without a block go back to the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nodewise::agent {

// NOLINTBEGIN(bugprone-dynamic-static-initializers): constinit
/// The range of all arenas, which follow each other.
[[gnu::visibility("hidden")]] inline constinit std::uintptr_t arenas_start = 0;
/// 0 until there is one.
[[gnu::visibility("hidden")]] inline constinit std::size_t arenas_bytes = 0;
/// Parts of the range may have another use.
[[gnu::visibility("hidden")]] inline constinit bool arenas_shrunk = false;
// NOLINTEND(bugprone-dynamic-static-initializers)

/// Whether the address is in the used part of an arena.
[[nodiscard]] bool is_in_arena(const void* start) noexcept;

[[nodiscard]] inline bool is_grouped(const void* start) noexcept {
  return reinterpret_cast<std::uintptr_t>(start) - arenas_start < arenas_bytes &&
         (!arenas_shrunk || is_in_arena(start));
}

/// Ends grouping and returns the unused address space of the arenas: the program is about to limit
/// its address space.
void shrink_arenas() noexcept;

/// Whether a block outside any group is an object of its own: in a profile the first 256 blocks of
/// a site, from 16 KiB on. Counts the block.
[[nodiscard]] bool may_stand_alone(std::size_t bytes, const void* caller) noexcept;

/// A block of the caller's group, aligned to 16. nullptr if the caller has no group (yet, or any
/// more): then the next allocator serves the request.
[[nodiscard]] void* allocate_grouped(std::size_t bytes, const void* caller) noexcept;
/// Notes a request that no group serves. If it is as large as an index of the blocks that follow,
/// these blocks are a new array, unless the request is the old index that has grown.
void note_other_request(std::size_t bytes, const void* caller) noexcept;
/// False if the block is already free.
[[nodiscard]] bool release_grouped(void* start) noexcept;
[[nodiscard]] std::size_t grouped_bytes(const void* start) noexcept;
/// The start of the block's arena.
[[nodiscard]] std::uintptr_t arena_of(const void* block) noexcept;

/// Places the groups that have grown since they were last placed. Call it before threads start to
/// use them; it is cheap if nothing has grown.
void settle_groups() noexcept;
/// The process ends: reports the groups that were not reported yet. Without `wait` it does nothing
/// while another thread settles them.
void report_groups(bool wait) noexcept;
// Around fork(): the child must not inherit groups that another thread was placing.
void lock_groups() noexcept;
void unlock_groups() noexcept;
/// Sites that made a group.
[[nodiscard]] std::uint64_t count_groups() noexcept;

} // namespace nodewise::agent
