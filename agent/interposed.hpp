// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a function needs that a program finds here before its libraries' one of the same name.
#pragma once

#include <atomic>
#include <cstdlib>

#include <dlfcn.h>
#include <unistd.h>

#define NODEWISE_INTERPOSED extern "C" __attribute__((visibility("default")))
#define NODEWISE_CALLER __builtin_return_address(0)

namespace nodewise::agent {

/// The function that the program would have without the agent, looked up when it is first needed.
template <class Function>
class next_function {
 public:
  explicit constexpr next_function(const char* name) noexcept : name_(name) {}

  /// nullptr if there is none.
  [[nodiscard]] Function* find() noexcept {
    Function* known = found_.load(std::memory_order_relaxed);
    if (known == nullptr) {
      known = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name_));
      found_.store(known, std::memory_order_relaxed);
    }
    return known;
  }
  [[nodiscard]] Function& get() noexcept {
    Function* const known = find();
    if (known == nullptr) {
      constexpr char text[] = "nodewise: a function that the agent stands in for is missing\n";
      (void)!::write(STDERR_FILENO, text, sizeof text - 1);
      std::abort();
    }
    return *known;
  }

 private:
  const char* name_;
  std::atomic<Function*> found_{nullptr};
};

} // namespace nodewise::agent
