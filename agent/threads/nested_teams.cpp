// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/threads/nested_teams.hpp"

#include <atomic>
#include <bit>

#include <dlfcn.h>

#include "agent/modules.hpp"

namespace nodewise::agent {

namespace {

constexpr const char* library = "libgomp";

using level_function = int();
using at_level_function = int(int);

constinit std::atomic<const char*> library_start{nullptr}; ///< of the library with the functions
constinit std::atomic<level_function*> get_level{nullptr};
constinit std::atomic<at_level_function*> get_ancestor{nullptr};
constinit std::atomic<at_level_function*> get_size{nullptr};

/// Threads that the calling thread has started so far for the inner team that it begins now.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t started = 0;

/// Checks the module: a program may have several such libraries, and unload one.
template <class Function>
bool is_of(Function* function, const char* module) noexcept {
  return function != nullptr && module != nullptr &&
         module_of(std::bit_cast<const void*>(function)).start == module;
}

/// The function in the module that begins at `module`; nullptr if it is in another one.
template <class Function>
Function* find(const char* module, const void* caller, const char* name) noexcept {
  auto* found = std::bit_cast<Function*>(::dlsym(RTLD_NEXT, name));
  if (!is_of(found, module)) {
    found = std::bit_cast<Function*>(find_seen_from(caller, name));
  }
  return is_of(found, module) ? found : nullptr;
}

} // namespace

void learn_openmp_library(const void* door, const void* caller) noexcept {
  const module_of from(door);
  if (!from.is(library) || library_start == from.start) {
    return;
  }
  library_start = nullptr;
  get_size = find<at_level_function>(from.start, caller, "omp_get_team_size");
  get_ancestor = find<at_level_function>(from.start, caller, "omp_get_ancestor_thread_num");
  get_level = find<level_function>(from.start, caller, "omp_get_level");
  if (get_size.load() != nullptr && get_ancestor.load() != nullptr && get_level.load() != nullptr) {
    library_start = from.start;
  }
}

inner_position next_inner_position(const void* code) noexcept {
  inner_position made;
  const char* const from = library_start;
  // The calling thread is in the library whose code it starts, so the library stays loaded.
  if (from == nullptr || module_of(code).start != from) {
    return made;
  }
  level_function* const level_now = get_level.load();
  at_level_function* const size_at = get_size.load();
  at_level_function* const ancestor_at = get_ancestor.load();
  // The team exists already, with the calling thread as its first thread.
  const int levels = level_now();
  if (levels < 2 || levels > NODEWISE_AGENT_TEAM_LEVELS) {
    return made;
  }
  for (int level = 1; level <= levels; ++level) {
    const int size = size_at(level);
    const int ancestor = ancestor_at(level);
    if (size < 1 || ancestor < 0) {
      return {};
    }
    made.sizes[level - 1] = static_cast<std::uint32_t>(size);
    made.number =
        made.number * static_cast<std::uint32_t>(size) + static_cast<std::uint32_t>(ancestor);
  }
  const std::uint32_t others = made.sizes[levels - 1] - 1;
  if (started >= others) { // left over from a larger team that this thread could not complete
    started = 0;
  }
  ++started;
  made.number += started;
  if (started == others) {
    started = 0;
  }
  return made;
}

} // namespace nodewise::agent
