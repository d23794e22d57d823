// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Helpers for functions of the agent that replace a library's function of the same name.
#pragma once

#include <atomic>
#include <cerrno>
#include <type_traits>

#include <dlfcn.h>

#define NODEWISE_INTERPOSED extern "C" __attribute__((visibility("default")))
#define NODEWISE_CALLER __builtin_return_address(0)

namespace nodewise::agent {

/// The function of this name that the program would use without the agent: the next one in the
/// loader's order, else the C library's own. nullptr if there is none. Inline, because RTLD_NEXT
/// searches the libraries after the one that calls dlsym().
[[nodiscard]] inline void* find_behind(const char* name) noexcept {
  void* found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    // Not closed: this would call our own dlclose(), which may be the function we look for.
    void* const library = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    found = library == nullptr ? nullptr : ::dlsym(library, name);
  }
  if (found == nullptr) {
    (void)::dlerror(); // clear the error of this search: the program must not see it
  }
  return found;
}

/// Stands in for a function that no library has. It fails like an unknown system call, since the
/// agent never ends a program.
template <class Result, Result failure, class... Parameters>
Result not_there(Parameters...) noexcept {
  errno = ENOSYS;
  return failure;
}

/// -1 for a signed result, 0 for an unsigned one or a pointer.
template <class Result, class... Parameters>
constexpr auto default_refusal(Result (*)(Parameters...)) noexcept -> Result (*)(Parameters...) {
  if constexpr (std::is_void_v<Result>) {
    return [](Parameters...) {};
  } else if constexpr (std::is_signed_v<Result>) {
    return not_there<Result, Result{-1}, Parameters...>;
  } else {
    return not_there<Result, Result{}, Parameters...>;
  }
}

/// The function that the program would use without the agent, looked up at the first use.
template <class Function>
class next_function {
 public:
  /// `missing` is called where no library has the function.
  explicit constexpr next_function(const char* name, Function* missing = default_refusal(
                                                         static_cast<Function*>(nullptr))) noexcept
      : name_(name), missing_(missing) {}

  /// nullptr if there is none.
  [[nodiscard]] Function* find() noexcept {
    Function* known = found_.load(std::memory_order_relaxed);
    if (known == nullptr) {
      known = reinterpret_cast<Function*>(find_behind(name_));
      found_.store(known, std::memory_order_relaxed);
    }
    return known;
  }
  [[nodiscard]] Function& get() noexcept {
    Function* const known = find();
    return known != nullptr ? *known : *missing_;
  }

 private:
  const char* name_;
  Function* missing_;
  std::atomic<Function*> found_{nullptr};
};

/// Looks these functions up in advance.
template <class... Next>
void find_all(Next&... functions) noexcept {
  (static_cast<void>(functions.find()), ...);
}

} // namespace nodewise::agent
