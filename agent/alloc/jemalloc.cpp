// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// jemalloc's own functions on blocks that a program got from malloc, which may be the agent's.
// Their flags choose a faster free and an alignment, which have no meaning for a mapping.
#include <cstdlib>

#include <malloc.h>

#include "agent/alloc/allocate.hpp"

using namespace nodewise::agent;

namespace {

constinit next_function<void(void*, int)> next_dallocx{"dallocx"};
constinit next_function<void(void*, std::size_t, int)> next_sdallocx{"sdallocx"};
constinit next_function<std::size_t(const void*, int)> next_sallocx{"sallocx"};
constinit next_function<std::size_t(void*, std::size_t, std::size_t, int)> next_xallocx{"xallocx"};
constinit next_function<void*(void*, std::size_t, int)> next_rallocx{"rallocx"};

/// nullptr for a block of the agent's, and if there is no such function.
template <class Function>
Function* theirs_for(const void* block, next_function<Function>& function) noexcept {
  Function* const theirs = function.find();
  const bool is_ours = theirs != nullptr && (is_grouped(block) || is_large_heap(block));
  return is_ours ? nullptr : theirs;
}

std::size_t size_of(const void* block) noexcept {
  return ::malloc_usable_size(const_cast<void*>(block)); // ours, which handles all kinds
}

} // namespace

void nodewise::agent::find_next_jemalloc() noexcept {
  look_up(next_dallocx, next_sdallocx, next_sallocx, next_xallocx, next_rallocx);
}

NODEWISE_INTERPOSED void dallocx(void* block, int flags) noexcept {
  if (auto* const theirs = theirs_for(block, next_dallocx); theirs != nullptr) {
    theirs(block, flags);
  } else {
    give_back(block, next);
  }
}

NODEWISE_INTERPOSED void sdallocx(void* block, std::size_t bytes, int flags) noexcept {
  if (auto* const theirs = theirs_for(block, next_sdallocx); theirs != nullptr) {
    theirs(block, bytes, flags);
  } else {
    give_back(block, next);
  }
}

NODEWISE_INTERPOSED std::size_t sallocx(const void* block, int flags) noexcept {
  auto* const theirs = theirs_for(block, next_sallocx);
  return theirs == nullptr ? size_of(block) : theirs(block, flags);
}

/// Grows in place or not at all; returns the resulting size.
NODEWISE_INTERPOSED std::size_t xallocx(void* block, std::size_t bytes, std::size_t extra,
                                        int flags) noexcept {
  auto* const theirs = theirs_for(block, next_xallocx);
  return theirs == nullptr ? size_of(block) : theirs(block, bytes, extra, flags);
}

NODEWISE_INTERPOSED void* rallocx(void* block, std::size_t bytes, int flags) noexcept {
  auto* const theirs = theirs_for(block, next_rallocx);
  return theirs == nullptr ? ::realloc(block, bytes) : theirs(block, bytes, flags);
}
