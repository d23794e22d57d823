// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Large objects of malloc's family. Each has a mapping of its own, which is placed when it is made.
// A freed object is kept for a request of the same length and placement (agent/alloc/kept.hpp) or
// goes back to the kernel, so that each page has the owner that was asked for. Trace mode leaves
// large objects to the next allocator: memory that it reuses keeps its pages, and a profile must
// show this.
#pragma once

#include <cstddef>
#include <optional>

#include "agent/alloc/object.hpp"
#include "agent/interposed.hpp"

namespace nodewise::agent {

/// Whether malloc made the object: not the program's own mapping that begins there, and not an
/// object that code outside the agent has freed.
[[nodiscard]] bool is_large_heap(const void* start) noexcept;

/// The content of new memory that the caller needs.
enum class content { any, zero };

/// nullptr if no rule fits the request or there is no memory. Leaves errno alone.
[[nodiscard]] void* allocate_large(std::size_t bytes, std::size_t alignment, const void* caller,
                                   content wanted = content::any) noexcept;
/// False if the object is gone: it was freed twice, or by code outside the agent.
[[nodiscard]] bool release_large(void* start) noexcept;
/// Like realloc(), for bytes > 0. Nothing if the caller must copy the object to a new block, which
/// may be a small one.
[[nodiscard]] std::optional<void*> resize_large(void* start, std::size_t bytes,
                                                const void* caller) noexcept;
/// The bytes that the program may use.
[[nodiscard]] std::size_t usable_bytes(const void* start) noexcept;

/// Places an object again that was moved or cut to `mapped_bytes`. Its pages migrate if its size
/// has changed by more than an eighth since they were placed. Below that the owners of the earlier
/// size stay, so that an array which grows in small steps is not migrated at each step.
void place_resized(object& what) noexcept;

/// Looks up the next functions.
template <class... Functions>
void look_up(next_function<Functions>&... each) noexcept {
  ((void)each.find(), ...);
}
/// Look up the next functions behind mmap, setrlimit and jemalloc's own functions. They run at the
/// start, because later a thread may wait for another one while it holds the loader's lock.
void find_next_mappers() noexcept;
void find_next_limits() noexcept;
void find_next_jemalloc() noexcept;

} // namespace nodewise::agent
