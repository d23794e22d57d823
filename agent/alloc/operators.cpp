// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The C++ operators new and delete, by their mangled names. They replace the standard library's, so
// that the site of an allocation is the code with `new`, and not the library. A program with an
// operator of its own keeps it.
#include "agent/alloc/operators.hpp"

#include <algorithm>
#include <array>
#include <new>

#include <dlfcn.h>
#include <pthread.h>

#include "agent/alloc/allocate.hpp"
#include "agent/alloc/statics.hpp"
#include "agent/asked.hpp"
#include "agent/interposed.hpp"
#include "agent/modules.hpp"

namespace nodewise::agent {

namespace {

/// Mangled names of the operators: _Zn is new, _Zd delete; w and l are for one object, a for an
/// array; m is std::size_t on 64-bit systems.
constexpr const char* operator_names[] = {
    "_Znwm",
    "_Znam",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdaPvRKSt9nothrow_t",
    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
};
using operator_functions = std::array<void*, std::size(operator_names)>;

/// The program has no operators: a caller of them is a plug-in with a library of its own.
constinit std::atomic<bool> no_operators_behind{false};

/// Whether the operator is a standard library's, or an allocator's that also defines malloc.
bool takes_from_malloc(const void* function) noexcept {
  constexpr const char* libraries[] = {"libstdc++",   "libc++",      "libc++abi",
                                       "libjemalloc", "libtcmalloc", "libtcmalloc_minimal",
                                       "libmimalloc"};
  const module_of module(function);
  return std::any_of(std::begin(libraries), std::end(libraries),
                     [&module](const char* name) { return module.is(name); });
}

/// The operators that a module finds by itself. Written once, so that reads need no lock.
struct plugin {
  std::atomic<const char*> module; ///< its start, or nullptr: not written
  unsigned long long unloaded;     ///< after the next unload its address may be another module's
  operator_functions operators;
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
void search(const void* caller, operator_functions& found) noexcept {
  Dl_info facts{};
  if (::dladdr(caller, &facts) == 0) {
    return;
  }
  void* const module = ::dlopen(facts.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (module == nullptr) {
    return;
  }
  std::transform(std::begin(operator_names), std::end(operator_names), found.begin(),
                 [module](const char* name) { return ::dlsym(module, name); });
  ::dlclose(module);
}

void add(const char* module, unsigned long long unloaded,
         const operator_functions& operators) noexcept {
  // Without settings, unloaded modules are not counted.
  if (asked.threshold_bytes == 0 || module == nullptr || ::pthread_mutex_trylock(&adding) != 0) {
    return;
  }
  plugin* const into = place_of(module, unloaded);
  if (into != nullptr && into->module.load(std::memory_order_relaxed) == nullptr) {
    into->unloaded = unloaded;
    into->operators = operators;
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

namespace {

/// Whether all operators of the program belong to a library that uses malloc and free. Then ours do
/// the same. If the program replaces a single one, all must go through the library: its operators
/// call each other (new[] calls new, sized delete calls delete), and so reach the replaced one.
bool operators_use_malloc() noexcept {
  const int known = malloc_operators.load(std::memory_order_relaxed);
  return known > 0 || (known < 0 && look_at_operators());
}

/// The operator `operator_names[which]` that the caller's module would find, else that of any
/// module, or nullptr. A program without C++ has no operators of its own: each plug-in loads its
/// own library, which dlsym(RTLD_NEXT) does not search.
void* operator_of_plugin(std::size_t which, const void* caller) noexcept {
  const char* const module = module_of(caller).start;
  const unsigned long long unloaded = unloaded_modules();
  const plugin* const known = module == nullptr ? nullptr : place_of(module, unloaded);
  if (known != nullptr && known->module.load(std::memory_order_acquire) == module) {
    return known->operators[which];
  }
  const int kept = errno;
  operator_functions found{};
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

/// The operator that a caller would use without the agent.
template <class Function>
class next_operator {
 public:
  explicit consteval next_operator(const char* name) noexcept : next_(name) {
    while (__builtin_strcmp(operator_names[which_], name) != 0) {
      ++which_;
    }
  }

  /// nullptr if no module has one. Then the block can only come from malloc.
  [[nodiscard, gnu::noinline]] Function* get(const void* caller) noexcept {
    Function* found = plugins_only_.load(std::memory_order_relaxed) ||
                              no_operators_behind.load(std::memory_order_relaxed)
                          ? nullptr
                          : next_.find();
    if (found == nullptr) {
      plugins_only_.store(true, std::memory_order_relaxed);
      found = reinterpret_cast<Function*>(operator_of_plugin(which_, caller));
    }
    return found;
  }

 private:
  next_function<Function> next_;
  std::size_t which_ = 0;
  std::atomic<bool> plugins_only_{false};
};

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

} // namespace nodewise::agent

using namespace nodewise::agent;

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
// Both for one object and for an array, by what follows in their names.
#define NODEWISE_NEWS(rest, ...)                                                                   \
  NODEWISE_NEW(_Znw##rest, __VA_ARGS__)                                                            \
  NODEWISE_NEW(_Zna##rest, __VA_ARGS__)
#define NODEWISE_DELETES(rest, ...)                                                                \
  NODEWISE_DELETE(_Zdl##rest, __VA_ARGS__)                                                         \
  NODEWISE_DELETE(_Zda##rest, __VA_ARGS__)

NODEWISE_NEWS(m, make, true, (std::size_t bytes))
NODEWISE_NEWS(mRKSt9nothrow_t, make, false, (std::size_t bytes, const std::nothrow_t& tag), tag)
NODEWISE_NEWS(mSt11align_val_t, make_aligned, true, (std::size_t bytes, std::align_val_t alignment),
              alignment)
NODEWISE_NEWS(mSt11align_val_tRKSt9nothrow_t, make_aligned, false,
              (std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& tag), alignment,
              tag)

NODEWISE_DELETES(Pv, (void* start))
NODEWISE_DELETES(Pvm, (void* start, std::size_t bytes), bytes)
NODEWISE_DELETES(PvSt11align_val_t, (void* start, std::align_val_t alignment), alignment)
NODEWISE_DELETES(PvmSt11align_val_t, (void* start, std::size_t bytes, std::align_val_t alignment),
                 bytes, alignment)
NODEWISE_DELETES(PvRKSt9nothrow_t, (void* start, const std::nothrow_t& tag), tag)
NODEWISE_DELETES(PvSt11align_val_tRKSt9nothrow_t,
                 (void* start, std::align_val_t alignment, const std::nothrow_t& tag), alignment,
                 tag)
