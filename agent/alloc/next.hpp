// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The allocator that the program would use without the agent: glibc's, or another preloaded one.
#pragma once

#include <cstddef>

namespace nodewise::agent {

/// The allocator's functions. Until the first call they are stand-ins that find the real ones.
struct next_allocator {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void (*free)(void*);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  std::size_t (*malloc_usable_size)(void*);
  bool knows_sizes = true; ///< malloc_usable_size belongs to the same allocator
};

// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
[[gnu::visibility("hidden")]] extern constinit next_allocator next;
/// The allocator after the agent in the loader's order. A call that reached the agent under the
/// function's own name goes on here. A wrapper in front of the agent would otherwise call itself
/// for ever.
[[gnu::visibility("hidden")]] extern constinit next_allocator behind;

} // namespace nodewise::agent
