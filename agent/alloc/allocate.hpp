// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Serves a request by the next allocator, by the group of its site, or by a mapping of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/alloc/groups.hpp"
#include "agent/alloc/large.hpp"
#include "agent/alloc/next.hpp"
#include "agent/alloc/objects.hpp"

namespace nodewise::agent {

/// Whether a request is large enough for an object of its own. Call it once: it may count.
[[nodiscard]] inline bool is_object(std::size_t bytes, const void* caller) noexcept {
  return bytes >= gate_bytes || (small_bytes < gate_bytes && may_stand_alone(bytes, caller));
}

/// For requests of at least `small_bytes`. Falls back to the C library if the kernel has no range
/// left; the C library then sets errno.
[[nodiscard]] void* allocate_noticed(std::size_t bytes, const void* caller) noexcept;

/// malloc().
[[nodiscard]] inline void* allocate(std::size_t bytes, const void* caller) noexcept {
  return bytes < small_bytes ? next.malloc(bytes) : allocate_noticed(bytes, caller);
}

/// free() for an address that may be the agent's.
void free_noticed(void* start, const next_allocator& through) noexcept;

/// free(): two tests of the address are all that most blocks pay.
[[gnu::always_inline]] inline void give_back(void* start, const next_allocator& through) noexcept {
  const bool begins_page = (reinterpret_cast<std::uintptr_t>(start) & page_mask) == 0;
  if (is_grouped(start) || begins_page) [[unlikely]] {
    free_noticed(start, through);
  } else {
    through.free(start);
  }
}

} // namespace nodewise::agent
