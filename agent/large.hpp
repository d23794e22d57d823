// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Large objects of malloc's family: each a mapping of its own, placed when it is made. A freed one
// is kept for a request of the same length and placement (agent/kept.hpp) or goes back to the
// kernel, so that no page ever has another owner than the one that was asked for. Trace mode leaves
// large objects to the next allocator: memory that it hands out again keeps its pages, and a
// profile must show this.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/kept.hpp"
#include "agent/object_table.hpp"
#include "agent/settings.hpp"

namespace nodewise::agent {

// NOLINTBEGIN(bugprone-dynamic-static-initializers): constinit, they are there from the start
/// What the agent knows. Written once, by start(), before the program's own code runs.
extern constinit settings asked;
/// Requests of at least this many bytes may be large. None are until the settings are read.
[[gnu::visibility("hidden")]] extern constinit std::size_t gate_bytes;
/// The page less one, or 0 until a large object can exist.
[[gnu::visibility("hidden")]] extern constinit std::size_t page_mask;
extern constinit object_table objects;
// NOLINTEND(bugprone-dynamic-static-initializers)

/// In a profile blocks of this size or more may be objects of their own: see `may_stand_alone`.
inline constexpr std::size_t least_alone_bytes = std::size_t{16} << 10;

/// Large objects begin on a page, which of the small ones of 16 bytes one in 256 does. So all that
/// the agent costs the free() of the others is this test of an address.
[[nodiscard]] inline bool is_large(const void* start) noexcept {
  return (reinterpret_cast<std::uintptr_t>(start) & page_mask) == 0 && start != nullptr &&
         (kept_memory.is_lent(start) || objects.contains(start));
}

/// What malloc gave, not the program's own mapping that begins there, nor what others than the
/// agent have freed.
[[nodiscard]] bool is_large_heap(const void* start) noexcept;

/// What the caller finds in new memory.
enum class content { any, zero };

/// nullptr if no rule wants it or there is no memory; errno is left alone.
[[nodiscard]] void* allocate_large(std::size_t bytes, std::size_t alignment, const void* caller,
                                   content wanted = content::any) noexcept;
/// For the time before the next allocator is known.
[[nodiscard]] void* allocate_unplaced(std::size_t bytes, std::size_t alignment) noexcept;
/// False if it is no longer there: freed twice, or by others, so that its address is another's.
[[nodiscard]] bool release_large(void* start) noexcept;
/// As realloc(), for bytes > 0; the result may be a small object of the next allocator.
[[nodiscard]] void* resize_large(void* start, std::size_t bytes, const void* caller) noexcept;
/// The bytes that the program may use.
[[nodiscard]] std::size_t usable_bytes(const void* start) noexcept;

/// Gives an object that was moved or cut to `mapped_bytes` its places anew. Its pages follow if its
/// size has changed by more than an eighth since they were placed; before that the owners of the
/// earlier size stay, so that an array which grows by a little each time is not moved each time.
void place_resized(object& what) noexcept;

/// Look up what mmap, setrlimit and jemalloc's own functions call next. At the start: later
/// somebody may wait for a thread while it holds the loader's lock.
void find_next_mappers() noexcept;
void find_next_limits() noexcept;
void find_next_jemalloc() noexcept;

} // namespace nodewise::agent
