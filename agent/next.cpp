// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/next.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include "agent/large.hpp"

namespace nodewise::agent {

namespace {

constinit std::atomic<bool> resolving{false};

/// A function of another allocator in front of us: the program's own, or one preloaded before. In a
/// program linked without PIE it may be a stub of the program's that leads here.
void* in_front(const char* name) noexcept {
  void* const first = ::dlsym(RTLD_DEFAULT, name);
  Dl_info there{};
  Dl_info here{};
  const ElfW(Sym)* symbol = nullptr;
  if (first == nullptr || ::dladdr(&resolving, &here) == 0 ||
      ::dladdr1(first, &there, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
                RTLD_DL_SYMENT) == 0 ||
      there.dli_fbase == here.dli_fbase || symbol == nullptr || symbol->st_shndx == SHN_UNDEF) {
    return nullptr;
  }
  return first;
}

/// A block must go back to where it came from, so what that allocator has not got and we have, as
/// reallocarray, must use its functions.
template <class Function>
Function find(const char* name) noexcept {
  void* const first = in_front(name);
  void* const found = first != nullptr ? first : ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    constexpr char text[] = "nodewise: the agent found no allocator behind it\n";
    (void)!::write(STDERR_FILENO, text, sizeof text - 1);
    ::abort();
  }
  return reinterpret_cast<Function>(found);
}

/// False while the search itself is under way: dlsym may allocate. Who allocates then, gets a
/// mapping of its own, which free() and realloc() know like any large object.
bool resolve() noexcept {
  if (resolving.exchange(true)) {
    return false;
  }
  next_allocator found{};
  found.calloc = find<decltype(found.calloc)>("calloc");
  found.realloc = find<decltype(found.realloc)>("realloc");
  found.free = find<decltype(found.free)>("free");
  found.posix_memalign = find<decltype(found.posix_memalign)>("posix_memalign");
  found.aligned_alloc = find<decltype(found.aligned_alloc)>("aligned_alloc");
  found.memalign = find<decltype(found.memalign)>("memalign");
  found.malloc_usable_size = find<decltype(found.malloc_usable_size)>("malloc_usable_size");
  found.malloc = find<decltype(found.malloc)>("malloc");
  next = found;
  resolving = false;
  return true;
}

void* first_malloc(std::size_t bytes) {
  return resolve() ? next.malloc(bytes) : allocate_unplaced(bytes, 1);
}

void* first_calloc(std::size_t count, std::size_t bytes) {
  if (resolve()) {
    return next.calloc(count, bytes);
  }
  std::size_t all = 0;
  return __builtin_mul_overflow(count, bytes, &all) ? nullptr : allocate_unplaced(all, 1);
}

void* first_realloc(void* old, std::size_t bytes) {
  return resolve() ? next.realloc(old, bytes) : nullptr;
}

/// Whatever is freed before the first allocation came from nowhere.
void first_free(void* start) {
  if (resolve()) {
    next.free(start);
  }
}

int first_posix_memalign(void** into, std::size_t alignment, std::size_t bytes) {
  return resolve() ? next.posix_memalign(into, alignment, bytes) : ENOMEM;
}

void* first_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return resolve() ? next.aligned_alloc(alignment, bytes) : allocate_unplaced(bytes, alignment);
}

void* first_memalign(std::size_t alignment, std::size_t bytes) {
  return resolve() ? next.memalign(alignment, bytes) : allocate_unplaced(bytes, alignment);
}

std::size_t first_malloc_usable_size(void* start) {
  return resolve() ? next.malloc_usable_size(start) : 0;
}

} // namespace

constinit next_allocator next = {
    first_malloc,         first_calloc,        first_realloc,  first_free,
    first_posix_memalign, first_aligned_alloc, first_memalign, first_malloc_usable_size};

} // namespace nodewise::agent
