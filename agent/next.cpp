// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/next.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <link.h>

#include "agent/behind.hpp"
#include "agent/large.hpp"
#include "agent/modules.hpp"

namespace nodewise::agent {

namespace {

constinit std::atomic<bool> resolving{false};

/// The function of another allocator in front of us: the program's own, or one preloaded earlier.
/// In a program linked without PIE, the address may be a stub of the program that leads here.
void* in_front(const char* name) noexcept {
  void* const first = ::dlsym(RTLD_DEFAULT, name);
  if (first == nullptr || module_base(first) == module_base(&resolving)) {
    return nullptr;
  }
  Dl_info there{}; // dladdr1() takes microseconds, since it compares all symbols of the module
  const ElfW(Sym)* symbol = nullptr;
  const bool known =
      ::dladdr1(first, &there, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
                RTLD_DL_SYMENT) != 0;
  return known && symbol != nullptr && symbol->st_shndx != SHN_UNDEF ? first : nullptr;
}

/// A block must go back to its own allocator. So functions that only we have, such as reallocarray,
/// must use that allocator's functions.
template <class Function>
void find(Function& into, const char* name, bool with_front) noexcept {
  void* const first = with_front ? in_front(name) : nullptr;
  void* const found = first != nullptr ? first : find_behind(name);
  if (found != nullptr) {
    into = reinterpret_cast<Function>(found);
  }
}

/// If there is no allocator behind the agent, or it is not found yet, each block is a mapping of
/// its own, which free() and realloc() handle like any large object. A block freed here is unknown
/// and is ignored.
constexpr next_allocator nothing = {
    [](std::size_t bytes) { return allocate_unplaced(bytes, 1); },
    [](std::size_t count, std::size_t bytes) -> void* {
      std::size_t all = 0;
      return __builtin_mul_overflow(count, bytes, &all) ? nullptr : allocate_unplaced(all, 1);
    },
    [](void* old, std::size_t bytes) -> void* {
      return old == nullptr ? allocate_unplaced(bytes, 1) : nullptr;
    },
    [](void*) {},
    [](void** into, std::size_t alignment, std::size_t bytes) {
      *into = allocate_unplaced(bytes, alignment);
      return *into == nullptr ? ENOMEM : 0;
    },
    [](std::size_t alignment, std::size_t bytes) { return allocate_unplaced(bytes, alignment); },
    [](std::size_t alignment, std::size_t bytes) { return allocate_unplaced(bytes, alignment); },
    [](void*) { return std::size_t{0}; }};

next_allocator find_all(bool with_front) noexcept {
  next_allocator found = nothing;
  find(found.calloc, "calloc", with_front);
  find(found.realloc, "realloc", with_front);
  find(found.free, "free", with_front);
  find(found.posix_memalign, "posix_memalign", with_front);
  find(found.aligned_alloc, "aligned_alloc", with_front);
  find(found.memalign, "memalign", with_front);
  find(found.malloc_usable_size, "malloc_usable_size", with_front);
  find(found.malloc, "malloc", with_front);
  // Another allocator's function does not know these blocks: then realloc() never copies them.
  const void* const sizes = module_base(reinterpret_cast<void*>(found.malloc_usable_size));
  found.knows_sizes =
      sizes != nullptr && sizes == module_base(reinterpret_cast<void*>(found.malloc));
  return found;
}

/// False while the search itself is under way: dlsym may allocate, and gets its blocks from
/// `nothing`.
bool resolve() noexcept {
  if (resolving.exchange(true)) {
    return false;
  }
  behind = find_all(false);
  next = find_all(true);
  resolving = false;
  return true;
}

template <next_allocator& Through>
void* first_malloc(std::size_t bytes) {
  return resolve() ? Through.malloc(bytes) : nothing.malloc(bytes);
}

template <next_allocator& Through>
void* first_calloc(std::size_t count, std::size_t bytes) {
  return resolve() ? Through.calloc(count, bytes) : nothing.calloc(count, bytes);
}

template <next_allocator& Through>
void* first_realloc(void* old, std::size_t bytes) {
  return resolve() ? Through.realloc(old, bytes) : nullptr;
}

/// A block freed before the first allocation is unknown.
template <next_allocator& Through>
void first_free(void* start) {
  if (resolve()) {
    Through.free(start);
  }
}

template <next_allocator& Through>
int first_posix_memalign(void** into, std::size_t alignment, std::size_t bytes) {
  return resolve() ? Through.posix_memalign(into, alignment, bytes) : ENOMEM;
}

template <next_allocator& Through>
void* first_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return resolve() ? Through.aligned_alloc(alignment, bytes)
                   : nothing.aligned_alloc(alignment, bytes);
}

template <next_allocator& Through>
void* first_memalign(std::size_t alignment, std::size_t bytes) {
  return resolve() ? Through.memalign(alignment, bytes) : nothing.memalign(alignment, bytes);
}

template <next_allocator& Through>
std::size_t first_malloc_usable_size(void* start) {
  return resolve() ? Through.malloc_usable_size(start) : 0;
}

/// The stand-ins of one table: they find its functions, and then call them through the same table.
template <next_allocator& Through>
constexpr next_allocator unresolved = {
    first_malloc<Through>,         first_calloc<Through>,
    first_realloc<Through>,        first_free<Through>,
    first_posix_memalign<Through>, first_aligned_alloc<Through>,
    first_memalign<Through>,       first_malloc_usable_size<Through>};

} // namespace

constinit next_allocator behind = unresolved<behind>;
constinit next_allocator next = unresolved<next>;

} // namespace nodewise::agent
