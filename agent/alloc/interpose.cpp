// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The agent's replacements for malloc and its relatives in the C library.
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include <malloc.h>

#include "agent/alloc/allocate.hpp"
#include "agent/alloc/large.hpp"
#include "agent/alloc/next.hpp"
#include "agent/asked.hpp"
#include "agent/interposed.hpp"
#include "agent/page.hpp"

using namespace nodewise::agent;

namespace {

/// A mapping of its own or a block of a group; nullptr if the C library must serve the request. A
/// rule may name some blocks below the threshold; the others may belong to a group. A request that
/// no group serves may be the index of a group.
void* take(std::size_t bytes, const void* caller, content wanted = content::any) noexcept {
  void* made = bytes >= gate_bytes ? allocate_large(bytes, 1, caller, wanted) : nullptr;
  const bool may_be_grouped = small_bytes < gate_bytes && bytes < asked.threshold_bytes;
  if (made == nullptr && may_be_grouped) {
    made = allocate_grouped(bytes, caller);
    if (made != nullptr) {
      return made;
    }
    if (may_stand_alone(bytes, caller)) {
      made = allocate_large(bytes, 1, caller, wanted);
    }
  }
  note_other_request(bytes, caller);
  return made;
}

} // namespace

void* nodewise::agent::allocate_noticed(std::size_t bytes, const void* caller) noexcept {
  void* const made = take(bytes, caller);
  return made != nullptr ? made : next.malloc(bytes);
}

void nodewise::agent::free_noticed(void* start, const next_allocator& through) noexcept {
  if (!release(start)) {
    through.free(start);
  }
}

namespace {

bool is_power_of_two(std::size_t n) noexcept {
  return n != 0 && (n & (n - 1)) == 0;
}

void* large_aligned_or_next(std::size_t alignment, std::size_t bytes, const void* caller) noexcept {
  void* const made = allocate_large(bytes, alignment, caller);
  return made != nullptr ? made : next.memalign(alignment, bytes);
}

/// False for an invalid alignment, which the next allocator refuses.
bool is_large_request(std::size_t alignment, std::size_t bytes, const void* caller) noexcept {
  return is_power_of_two(alignment) && is_object(bytes, caller);
}

/// Copies into a new block of the kind that fits its size. If that fails, the old block is
/// unchanged.
void* copy_to_new(void* old, std::size_t had, std::size_t bytes, const void* caller) noexcept {
  void* const made = allocate(bytes, caller);
  if (made != nullptr) {
    __builtin_memcpy(made, old, had < bytes ? had : bytes);
    ::free(old);
  }
  return made;
}

void* resize_grouped(void* old, std::size_t bytes, const void* caller) noexcept {
  const std::size_t had = grouped_bytes(old);
  return bytes <= had && bytes >= had / 2 ? old : copy_to_new(old, had, bytes, caller);
}

void* resize(void* old, std::size_t bytes, const void* caller,
             const next_allocator& through) noexcept {
  if (old == nullptr) {
    return bytes < small_bytes ? through.malloc(bytes) : allocate_noticed(bytes, caller);
  }
  const bool grouped = is_grouped(old);
  if (grouped || is_large_heap(old)) {
    if (bytes == 0) {
      ::free(old);
      return nullptr;
    }
    return grouped ? resize_grouped(old, bytes, caller)
                   : resize_large(old, bytes, caller, allocate);
  }
  if (!through.knows_sizes || !is_object(bytes, caller)) {
    return through.realloc(old, bytes);
  }
  void* const made = allocate_large(bytes, 1, caller);
  if (made == nullptr) {
    return through.realloc(old, bytes);
  }
  const std::size_t had = through.malloc_usable_size(old);
  __builtin_memcpy(made, old, had < bytes ? had : bytes);
  through.free(old);
  return made;
}

} // namespace

NODEWISE_INTERPOSED void* malloc(std::size_t bytes) noexcept {
  return bytes < small_bytes ? behind.malloc(bytes) : allocate_noticed(bytes, NODEWISE_CALLER);
}

NODEWISE_INTERPOSED void free(void* start) noexcept {
  give_back(start, behind);
}

NODEWISE_INTERPOSED void* calloc(std::size_t count, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all) || all < small_bytes) {
    return behind.calloc(count, bytes);
  }
  // A group never reuses a block, so its memory is fresh from the kernel.
  void* const made = take(all, NODEWISE_CALLER, content::zero);
  return made != nullptr ? made : behind.calloc(count, bytes);
}

NODEWISE_INTERPOSED void* realloc(void* old, std::size_t bytes) noexcept {
  return resize(old, bytes, NODEWISE_CALLER, behind);
}

NODEWISE_INTERPOSED void* reallocarray(void* old, std::size_t count, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return resize(old, all, NODEWISE_CALLER, next);
}

NODEWISE_INTERPOSED int posix_memalign(void** into, std::size_t alignment,
                                       std::size_t bytes) noexcept {
  if (!is_large_request(alignment, bytes, NODEWISE_CALLER) || alignment % sizeof(void*) != 0) {
    return behind.posix_memalign(into, alignment, bytes);
  }
  void* const made = allocate_large(bytes, alignment, NODEWISE_CALLER);
  if (made == nullptr) {
    return behind.posix_memalign(into, alignment, bytes);
  }
  *into = made;
  return 0;
}

NODEWISE_INTERPOSED void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return is_large_request(alignment, bytes, NODEWISE_CALLER)
             ? large_aligned_or_next(alignment, bytes, NODEWISE_CALLER)
             : behind.aligned_alloc(alignment, bytes);
}

NODEWISE_INTERPOSED void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return is_large_request(alignment, bytes, NODEWISE_CALLER)
             ? large_aligned_or_next(alignment, bytes, NODEWISE_CALLER)
             : behind.memalign(alignment, bytes);
}

NODEWISE_INTERPOSED void* valloc(std::size_t bytes) noexcept {
  return bytes < gate_bytes ? next.memalign(page_bytes(), bytes)
                            : large_aligned_or_next(page_bytes(), bytes, NODEWISE_CALLER);
}

NODEWISE_INTERPOSED void* pvalloc(std::size_t bytes) noexcept {
  if (bytes > PTRDIFF_MAX) {
    errno = ENOMEM;
    return nullptr;
  }
  bytes = round_up(bytes, page_bytes());
  return bytes < gate_bytes ? next.memalign(page_bytes(), bytes)
                            : large_aligned_or_next(page_bytes(), bytes, NODEWISE_CALLER);
}

NODEWISE_INTERPOSED std::size_t malloc_usable_size(void* start) noexcept {
  if (is_grouped(start)) {
    return grouped_bytes(start);
  }
  return is_large_heap(start) ? usable_bytes(start) : behind.malloc_usable_size(start);
}
