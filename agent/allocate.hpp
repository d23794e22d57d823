// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where a request goes: to the next allocator, to a group of its site, or to a mapping of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/groups.hpp"
#include "agent/large.hpp"
#include "agent/next.hpp"

namespace nodewise::agent {

/// Requests below this are the next allocator's; the only thing that most requests pay for.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
[[gnu::visibility("hidden")]] extern constinit std::size_t small_bytes;

/// Whether a request is for an object of its own, by its size. To be asked once: it may count.
[[nodiscard]] inline bool is_object(std::size_t bytes, const void* caller) noexcept {
  return bytes >= gate_bytes || (small_bytes < gate_bytes && may_stand_alone(bytes, caller));
}

/// For requests of at least `small_bytes`. Where even the kernel has no range left, the C library
/// may still have memory, and sets errno.
[[nodiscard]] void* allocate_noticed(std::size_t bytes, const void* caller) noexcept;

/// malloc().
[[nodiscard]] inline void* allocate(std::size_t bytes, const void* caller) noexcept {
  return bytes < small_bytes ? next.malloc(bytes) : allocate_noticed(bytes, caller);
}

/// False if the block is not the agent's.
[[nodiscard]] inline bool release(void* start) noexcept {
  if (is_grouped(start)) {
    return release_grouped(start);
  }
  return is_large(start) && release_large(start);
}

/// free() for an address that may be the agent's.
void free_noticed(void* start, const next_allocator& through) noexcept;

/// free(): all that most blocks pay for are two tests of their address.
[[gnu::always_inline]] inline void give_back(void* start, const next_allocator& through) noexcept {
  const bool begins_page = (reinterpret_cast<std::uintptr_t>(start) & page_mask) == 0;
  if (is_grouped(start) || begins_page) [[unlikely]] {
    free_noticed(start, through);
  } else {
    through.free(start);
  }
}

} // namespace nodewise::agent
