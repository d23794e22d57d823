// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/nested_teams.hpp"

#include <atomic>
#include <bit>
#include <cstring>

#include <dlfcn.h>

#include "agent/modules.hpp"
#include "agent/seen_from.hpp"

namespace nodewise::agent {

namespace {

constexpr const char* library = "libgomp";

using level_function = int();
using at_level_function = int(int);

constinit std::atomic<level_function*> get_level{nullptr};
constinit std::atomic<at_level_function*> get_ancestor{nullptr};
constinit std::atomic<at_level_function*> get_size{nullptr};

/// How many threads the calling thread has started for the inner team that it begins now.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t started = 0;

template <class Function>
Function* find(const void* caller, const char* name) noexcept {
  void* const found = ::dlsym(RTLD_NEXT, name);
  return std::bit_cast<Function*>(found != nullptr ? found : find_seen_from(caller, name));
}

} // namespace

void learn_openmp_library(const void* door, const void* caller) noexcept {
  if (get_level.load() != nullptr || !module_of(door).is(library)) {
    return;
  }
  get_size = find<at_level_function>(caller, "omp_get_team_size");
  get_ancestor = find<at_level_function>(caller, "omp_get_ancestor_thread_num");
  if (get_size != nullptr && get_ancestor != nullptr) {
    get_level = find<level_function>(caller, "omp_get_level");
  }
}

inner_position next_inner_position(const char* module) noexcept {
  inner_position made;
  level_function* const level_now = get_level.load();
  if (level_now == nullptr || std::strncmp(module, library, std::strlen(library)) != 0) {
    return made;
  }
  // The team is begun already, with the calling thread as its first.
  const int levels = level_now();
  if (levels < 2 || levels > NODEWISE_AGENT_TEAM_LEVELS) {
    return made;
  }
  for (int level = 1; level <= levels; ++level) {
    const int size = get_size.load()(level);
    const int ancestor = get_ancestor.load()(level);
    if (size < 1 || ancestor < 0) {
      return {};
    }
    made.sizes[level - 1] = static_cast<std::uint32_t>(size);
    made.number =
        made.number * static_cast<std::uint32_t>(size) + static_cast<std::uint32_t>(ancestor);
  }
  const std::uint32_t others = made.sizes[levels - 1] - 1;
  if (started >= others) { // of a larger team, which this thread was not able to complete
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
