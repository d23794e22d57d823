// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/next_operator.hpp"

#include <cerrno>
#include <cstdint>

#include <dlfcn.h>
#include <pthread.h>

#include "agent/alloc/statics.hpp"
#include "agent/asked.hpp"
#include "agent/modules.hpp"
#include "agent/seen_from.hpp"

namespace nodewise::agent {

namespace {

/// Whether the operator is a standard library's, or an allocator's that also defines malloc.
bool takes_from_malloc(const void* function) noexcept {
  const module_of module(function);
  for (const char* const name : {"libstdc++", "libc++", "libc++abi", "libjemalloc", "libtcmalloc",
                                 "libtcmalloc_minimal", "libmimalloc"}) {
    if (module.is(name)) {
      return true;
    }
  }
  return false;
}

/// The operators that a module finds by itself. Written once, so that reads need no lock.
struct plugin {
  std::atomic<const char*> module; ///< its start, or nullptr: not written
  unsigned long long unloaded;     ///< after the next unload its address may be another module's
  void* operators[operator_count];
};

constexpr std::size_t plugin_count = 128;
constinit plugin plugins[plugin_count] = {};
constinit pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

/// The module's entry, or a free one for it; nullptr if there is no room.
plugin* place_of(const char* module, unsigned long long unloaded) noexcept {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(module));
  std::size_t at = (address * 0x9e3779b97f4a7c15U) >> 57;
  for (std::size_t step = 0; step < plugin_count; ++step, ++at) {
    plugin& each = plugins[at % plugin_count];
    const char* const known = each.module.load(std::memory_order_acquire);
    if (known == nullptr || (known == module && each.unloaded == unloaded)) {
      return &each;
    }
  }
  return nullptr;
}

/// Searches the module and the libraries that it needs.
void search(const void* caller, void* (&found)[operator_count]) noexcept {
  Dl_info facts{};
  if (::dladdr(caller, &facts) == 0) {
    return;
  }
  void* const module = ::dlopen(facts.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (module == nullptr) {
    return;
  }
  for (std::size_t which = 0; which < operator_count; ++which) {
    found[which] = ::dlsym(module, operator_names[which]);
  }
  ::dlclose(module);
}

void add(const char* module, unsigned long long unloaded,
         void* const (&operators)[operator_count]) noexcept {
  // Without settings, unloaded modules are not counted.
  if (asked.threshold_bytes == 0 || module == nullptr || ::pthread_mutex_trylock(&adding) != 0) {
    return;
  }
  plugin* const into = place_of(module, unloaded);
  if (into != nullptr && into->module.load(std::memory_order_relaxed) == nullptr) {
    into->unloaded = unloaded;
    for (std::size_t which = 0; which < operator_count; ++which) {
      into->operators[which] = operators[which];
    }
    into->module.store(module, std::memory_order_release);
  }
  ::pthread_mutex_unlock(&adding);
}

} // namespace

bool look_at_operators() noexcept {
  bool all = true;
  bool any = false;
  const module_of here(&malloc_operators);
  for (const char* const name : operator_names) {
    const module_of first(::dlsym(RTLD_DEFAULT, name));
    const void* const behind_us = ::dlsym(RTLD_NEXT, name);
    any = any || behind_us != nullptr;
    all = all && first.start == here.start && takes_from_malloc(behind_us);
  }
  no_operators_behind.store(!any, std::memory_order_relaxed);
  malloc_operators.store(all ? 1 : 0, std::memory_order_relaxed);
  if (!any) {
    (void)::dlerror(); // clear the error of our failed search
  }
  return all;
}

void* operator_of_plugin(std::size_t which, const void* caller) noexcept {
  const char* const module = module_of(caller).start;
  const unsigned long long unloaded = unloaded_modules();
  const plugin* const known = module == nullptr ? nullptr : place_of(module, unloaded);
  if (known != nullptr && known->module.load(std::memory_order_acquire) == module) {
    return known->operators[which];
  }
  const int kept = errno;
  void* found[operator_count] = {};
  search(caller, found);
  if (found[which] == nullptr) {
    // A tail call returns into another module: a destructor's last delete returns into libc.
    void* const anywhere = find_seen_from(caller, operator_names[which]);
    if (anywhere != nullptr) {
      search(anywhere, found);
      found[which] = anywhere;
    }
  }
  add(module, unloaded, found);
  // The library's operators call each other, and these calls reach ours: enter the library too.
  add(module_of(found[which]).start, unloaded, found);
  errno = kept;
  return found[which];
}

} // namespace nodewise::agent
