// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/next.hpp"

#include <cerrno>

#include <dlfcn.h>
#include <link.h>

#include "agent/alloc/objects.hpp"
#include "agent/interposed.hpp"
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

/// Stands in for a function of one table: finds its functions, and then calls them through the same
/// table. A block freed before the first allocation is unknown.
template <next_allocator& Through, auto function>
struct first;
template <next_allocator& Through, class Result, class... Parameters,
          Result (*next_allocator::*function)(Parameters...)>
struct first<Through, function> {
  static Result call(Parameters... of) {
    return ((resolve() ? Through : nothing).*function)(of...);
  }
};

template <next_allocator& Through>
constexpr next_allocator unresolved = {first<Through, &next_allocator::malloc>::call,
                                       first<Through, &next_allocator::calloc>::call,
                                       first<Through, &next_allocator::realloc>::call,
                                       first<Through, &next_allocator::free>::call,
                                       first<Through, &next_allocator::posix_memalign>::call,
                                       first<Through, &next_allocator::aligned_alloc>::call,
                                       first<Through, &next_allocator::memalign>::call,
                                       first<Through, &next_allocator::malloc_usable_size>::call};

} // namespace

constinit next_allocator behind = unresolved<behind>;
constinit next_allocator next = unresolved<next>;

} // namespace nodewise::agent
