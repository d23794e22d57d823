// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The C++ operators new and delete that the agent's operators replace.
#pragma once

#include <atomic>
#include <cstddef>

#include "agent/interposed.hpp"

namespace nodewise::agent {

/// Mangled names of the operators: _Zn is new, _Zd delete; w and l are for one object, a for an
/// array; m is std::size_t on 64-bit systems.
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
/// 1: yes, 0: no, -1: not known yet.
[[gnu::visibility("hidden")]] inline constinit std::atomic<int> malloc_operators{-1};
/// The program has no operators: a caller of them is a plug-in with a library of its own.
[[gnu::visibility("hidden")]] inline constinit std::atomic<bool> no_operators_behind{false};
// NOLINTEND(bugprone-dynamic-static-initializers)
[[nodiscard]] bool look_at_operators() noexcept;

/// Whether all operators of the program belong to a library that uses malloc and free. Then ours do
/// the same. If the program replaces a single one, all must go through the library: its operators
/// call each other (new[] calls new, sized delete calls delete), and so reach the replaced one.
[[nodiscard]] inline bool operators_use_malloc() noexcept {
  const int known = malloc_operators.load(std::memory_order_relaxed);
  return known > 0 || (known < 0 && look_at_operators());
}

/// The operator `operator_names[which]` that the caller's module would find, else that of any
/// module, or nullptr. A program without C++ has no operators of its own: each plug-in loads its
/// own library, which dlsym(RTLD_NEXT) does not search.
[[nodiscard]] void* operator_of_plugin(std::size_t which, const void* caller) noexcept;

/// The operator that a caller would use without the agent.
template <class Function>
class next_operator {
 public:
  explicit consteval next_operator(const char* name) noexcept : next_(name), which_(find(name)) {}

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
