// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The C++ operators new and delete, by their mangled names. They replace the standard library's, so
// that the site of an allocation is the code with `new`, and not the library. A program with an
// operator of its own keeps it.
#include <cstddef>
#include <new>

#include "agent/alloc/allocate.hpp"
#include "agent/alloc/large.hpp"
#include "agent/alloc/next.hpp"
#include "agent/alloc/next_operator.hpp"
#include "agent/interposed.hpp"

using namespace nodewise::agent;

namespace {

/// Allocates like malloc, and falls back to the operator, which calls the new handler and throws.
template <class Function, class... Rest>
[[gnu::noinline]] void* make_noticed(next_operator<Function>& next_one, std::size_t bytes,
                                     const void* caller, const Rest&... rest) {
  if (operators_use_malloc()) {
    void* const made = allocate(bytes == 0 ? 1 : bytes, caller);
    if (made != nullptr) {
      return made;
    }
  }
  Function* const theirs = next_one.get(caller);
  return theirs != nullptr ? theirs(bytes, rest...) : allocate(bytes == 0 ? 1 : bytes, caller);
}

/// The fast path for most blocks: inlined, and only the size must survive the call.
template <class Function, class... Rest>
[[gnu::always_inline]] inline void* make(next_operator<Function>& next_one, std::size_t bytes,
                                         const void* caller, const Rest&... rest) {
  const bool is_small = bytes - 1 < small_bytes - 1; // and not 0
  if (is_small && malloc_operators.load(std::memory_order_relaxed) > 0) [[likely]] {
    void* const made = next.malloc(bytes);
    if (made != nullptr) [[likely]] {
      return made;
    }
  }
  return make_noticed(next_one, bytes, caller, rest...);
}

template <class Function, class... Rest>
void* make_aligned(next_operator<Function>& next_one, std::size_t bytes, const void* caller,
                   std::align_val_t alignment, const Rest&... rest) {
  if (operators_use_malloc() && is_object(bytes, caller)) {
    void* const made = allocate_large(bytes, static_cast<std::size_t>(alignment), caller);
    if (made != nullptr) {
      return made;
    }
  }
  Function* const theirs = next_one.get(caller);
  return theirs != nullptr ? theirs(bytes, alignment, rest...)
                           : next.memalign(static_cast<std::size_t>(alignment), bytes);
}

template <class Function, class... Rest>
[[gnu::noinline]] void destroy_noticed(next_operator<Function>& next_one, void* start,
                                       const void* caller, Rest... rest) noexcept {
  Function* const theirs = operators_use_malloc() ? nullptr : next_one.get(caller);
  if (theirs == nullptr) {
    give_back(start, next);
  } else {
    theirs(start, rest...);
  }
}

template <class Function, class... Rest>
[[gnu::always_inline]] inline void destroy(next_operator<Function>& next_one, void* start,
                                           const void* caller, Rest... rest) noexcept {
  if (malloc_operators.load(std::memory_order_relaxed) > 0) [[likely]] {
    give_back(start, next);
  } else {
    destroy_noticed(next_one, start, caller, rest...);
  }
}

} // namespace

// `parameters`, with their names, also make the type of the next operator.
#define NODEWISE_NEW(name, maker, throws, parameters, ...)                                         \
  NODEWISE_INTERPOSED void* name parameters noexcept(!(throws)) {                                  \
    static constinit next_operator<void * parameters> next_one(#name);                             \
    return maker(next_one, bytes, NODEWISE_CALLER __VA_OPT__(, ) __VA_ARGS__);                     \
  }
#define NODEWISE_DELETE(name, parameters, ...)                                                     \
  NODEWISE_INTERPOSED void name parameters noexcept {                                              \
    static constinit next_operator<void parameters> next_one(#name);                               \
    destroy(next_one, start, NODEWISE_CALLER __VA_OPT__(, ) __VA_ARGS__);                          \
  }

NODEWISE_NEW(_Znwm, make, true, (std::size_t bytes))
NODEWISE_NEW(_Znam, make, true, (std::size_t bytes))
NODEWISE_NEW(_ZnwmRKSt9nothrow_t, make, false, (std::size_t bytes, const std::nothrow_t& tag), tag)
NODEWISE_NEW(_ZnamRKSt9nothrow_t, make, false, (std::size_t bytes, const std::nothrow_t& tag), tag)
NODEWISE_NEW(_ZnwmSt11align_val_t, make_aligned, true,
             (std::size_t bytes, std::align_val_t alignment), alignment)
NODEWISE_NEW(_ZnamSt11align_val_t, make_aligned, true,
             (std::size_t bytes, std::align_val_t alignment), alignment)
NODEWISE_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, make_aligned, false,
             (std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& tag), alignment,
             tag)
NODEWISE_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, make_aligned, false,
             (std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& tag), alignment,
             tag)

NODEWISE_DELETE(_ZdlPv, (void* start))
NODEWISE_DELETE(_ZdaPv, (void* start))
NODEWISE_DELETE(_ZdlPvm, (void* start, std::size_t bytes), bytes)
NODEWISE_DELETE(_ZdaPvm, (void* start, std::size_t bytes), bytes)
NODEWISE_DELETE(_ZdlPvSt11align_val_t, (void* start, std::align_val_t alignment), alignment)
NODEWISE_DELETE(_ZdaPvSt11align_val_t, (void* start, std::align_val_t alignment), alignment)
NODEWISE_DELETE(_ZdlPvmSt11align_val_t,
                (void* start, std::size_t bytes, std::align_val_t alignment), bytes, alignment)
NODEWISE_DELETE(_ZdaPvmSt11align_val_t,
                (void* start, std::size_t bytes, std::align_val_t alignment), bytes, alignment)
NODEWISE_DELETE(_ZdlPvRKSt9nothrow_t, (void* start, const std::nothrow_t& tag), tag)
NODEWISE_DELETE(_ZdaPvRKSt9nothrow_t, (void* start, const std::nothrow_t& tag), tag)
NODEWISE_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t,
                (void* start, std::align_val_t alignment, const std::nothrow_t& tag), alignment,
                tag)
NODEWISE_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t,
                (void* start, std::align_val_t alignment, const std::nothrow_t& tag), alignment,
                tag)
