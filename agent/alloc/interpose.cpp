// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The agent's replacements for malloc and its relatives in the C library.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>

#include <malloc.h>

#include "agent/alloc/allocate.hpp"
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
  if (made == nullptr && small_bytes < gate_bytes && bytes < asked.threshold_bytes) {
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

/// False for an invalid alignment, which the next allocator refuses.
bool is_large_request(std::size_t alignment, std::size_t bytes, const void* caller) noexcept {
  return std::has_single_bit(alignment) && is_object(bytes, caller);
}

void* large_aligned_or_next(std::size_t alignment, std::size_t bytes, const void* caller) noexcept {
  void* const made = allocate_large(bytes, alignment, caller);
  return made != nullptr ? made : next.memalign(alignment, bytes);
}

/// `small` serves requests for less than an object.
void* allocate_aligned(std::size_t alignment, std::size_t bytes, const void* caller,
                       void* (*small)(std::size_t, std::size_t)) noexcept {
  return is_large_request(alignment, bytes, caller)
             ? large_aligned_or_next(alignment, bytes, caller)
             : small(alignment, bytes);
}

void* allocate_pages(std::size_t bytes, const void* caller) noexcept {
  return bytes < gate_bytes ? next.memalign(page_bytes(), bytes)
                            : large_aligned_or_next(page_bytes(), bytes, caller);
}

/// Resizes a block of the agent. Copies into a new block of the kind that fits its size, unless the
/// old one fits, too. If that fails, the old block is unchanged.
void* resize_own(void* old, std::size_t bytes, const void* caller) noexcept {
  if (!is_grouped(old)) {
    if (const std::optional<void*> resized = resize_large(old, bytes, caller)) {
      return *resized;
    }
  } else if (bytes <= grouped_bytes(old) && bytes >= grouped_bytes(old) / 2) {
    return old;
  }
  const std::size_t had = is_grouped(old) ? grouped_bytes(old) : usable_bytes(old);
  void* const made = allocate(bytes, caller);
  if (made != nullptr) {
    __builtin_memcpy(made, old, std::min(had, bytes));
    ::free(old);
  }
  return made;
}

void* resize(void* old, std::size_t bytes, const void* caller,
             const next_allocator& through) noexcept {
  if (old == nullptr) {
    return bytes < small_bytes ? through.malloc(bytes) : allocate_noticed(bytes, caller);
  }
  if (is_grouped(old) || is_large_heap(old)) {
    if (bytes == 0) {
      ::free(old);
      return nullptr;
    }
    return resize_own(old, bytes, caller);
  }
  if (!through.knows_sizes || !is_object(bytes, caller)) {
    return through.realloc(old, bytes);
  }
  void* const made = allocate_large(bytes, 1, caller);
  if (made == nullptr) {
    return through.realloc(old, bytes);
  }
  __builtin_memcpy(made, old, std::min(through.malloc_usable_size(old), bytes));
  through.free(old);
  return made;
}

} // namespace

void* nodewise::agent::allocate_noticed(std::size_t bytes, const void* caller) noexcept {
  void* const made = take(bytes, caller);
  return made != nullptr ? made : next.malloc(bytes);
}

void nodewise::agent::free_noticed(void* start, const next_allocator& through) noexcept {
  const bool is_ours =
      is_grouped(start) ? release_grouped(start) : is_large(start) && release_large(start);
  if (!is_ours) {
    through.free(start);
  }
}

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
  void* const made =
      is_large_request(alignment, bytes, NODEWISE_CALLER) && alignment % sizeof(void*) == 0
          ? allocate_large(bytes, alignment, NODEWISE_CALLER)
          : nullptr;
  if (made == nullptr) {
    return behind.posix_memalign(into, alignment, bytes);
  }
  *into = made;
  return 0;
}

NODEWISE_INTERPOSED void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return allocate_aligned(alignment, bytes, NODEWISE_CALLER, behind.aligned_alloc);
}

NODEWISE_INTERPOSED void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return allocate_aligned(alignment, bytes, NODEWISE_CALLER, behind.memalign);
}

NODEWISE_INTERPOSED void* valloc(std::size_t bytes) noexcept {
  return allocate_pages(bytes, NODEWISE_CALLER);
}

NODEWISE_INTERPOSED void* pvalloc(std::size_t bytes) noexcept {
  if (bytes > PTRDIFF_MAX) {
    errno = ENOMEM;
    return nullptr;
  }
  return allocate_pages(round_up(bytes, page_bytes()), NODEWISE_CALLER);
}

NODEWISE_INTERPOSED std::size_t malloc_usable_size(void* start) noexcept {
  if (is_grouped(start)) {
    return grouped_bytes(start);
  }
  return is_large_heap(start) ? usable_bytes(start) : behind.malloc_usable_size(start);
}
