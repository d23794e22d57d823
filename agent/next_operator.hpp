// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// C++'s operators new and delete behind the agent's.
#pragma once

#include <atomic>
#include <cstddef>

#include "agent/interposed.hpp"

namespace nodewise::agent {

/// Their mangled names: _Zn is new, _Zd delete, w and a are for one object and for an array, m is
/// std::size_t on 64-bit systems.
inline constexpr const char* operator_names[] = {
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
inline constexpr std::size_t operator_count = sizeof operator_names / sizeof *operator_names;

// NOLINTBEGIN(bugprone-dynamic-static-initializers): constinit
/// 1 yes, 0 no, -1 not looked at yet
[[gnu::visibility("hidden")]] extern constinit std::atomic<int> malloc_operators;
/// The program has none: whoever calls them is a plug-in with a library of its own.
[[gnu::visibility("hidden")]] extern constinit std::atomic<bool> no_operators_behind;
// NOLINTEND(bugprone-dynamic-static-initializers)
[[nodiscard]] bool look_at_operators() noexcept;

/// Whether all operators of the program are a library's that takes their memory from malloc and
/// gives it back to free. Then ours do the same. If a single one is somebody's own, all must go the
/// library's way: its operators call each other (new[] calls new, sized delete calls delete), and
/// so come to the one that was replaced.
[[nodiscard]] inline bool operators_use_malloc() noexcept {
  const int known = malloc_operators.load(std::memory_order_relaxed);
  return known > 0 || (known < 0 && look_at_operators());
}

/// The operator `operator_names[which]` that the caller's module finds by itself, else that of any
/// module, or nullptr. A program without C++ has none behind ours: there each plug-in brings its
/// library along, which dlsym(RTLD_NEXT) does not search.
[[nodiscard]] void* operator_of_plugin(std::size_t which, const void* caller) noexcept;

/// The operator that a caller would have without the agent.
template <class Function>
class next_operator {
 public:
  explicit consteval next_operator(const char* name) noexcept : next_(name), which_(find(name)) {}

  /// nullptr where no module has one: then only malloc can have made the block, or make it.
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
  static consteval std::size_t find(const char* name) noexcept {
    std::size_t which = 0;
    while (__builtin_strcmp(operator_names[which], name) != 0) {
      ++which;
    }
    return which;
  }

  next_function<Function> next_;
  std::size_t which_;
  std::atomic<bool> plugins_only_{false};
};

} // namespace nodewise::agent
