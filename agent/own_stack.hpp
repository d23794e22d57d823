// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The words of the calling thread's stack. Where its bounds are not known (a coroutine's stack, a
// signal's, a thread that nobody saw begin) there are none, rather than a fault.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nodewise::agent {

/// By the first thread of the process, when it begins: from now on bounds are kept.
void note_main_stack() noexcept;
/// By any other thread, before it does anything else. Nothing if no bounds are kept.
void note_thread_stack() noexcept;

/// Words in a row, ascending by address: from the inside out.
class stack_words {
 public:
  stack_words() = default;
  stack_words(const std::uintptr_t* first, const std::uintptr_t* last) noexcept
      : first_(first), last_(last) {}

  [[nodiscard]] const std::uintptr_t* begin() const noexcept { return first_; }
  [[nodiscard]] const std::uintptr_t* end() const noexcept { return last_; }
  [[nodiscard]] bool empty() const noexcept { return first_ == last_; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(last_ - first_) * sizeof *first_;
  }
  /// Those behind the first that is `value`; all if none is.
  [[nodiscard]] stack_words behind(const void* value) const noexcept;

 private:
  const std::uintptr_t* first_ = nullptr;
  const std::uintptr_t* last_ = nullptr;
};

/// From `from` on, at most `bytes` of them.
[[nodiscard]] stack_words own_stack(const void* from, std::size_t bytes) noexcept;
/// The calling thread's whole stack, with its thread-local data if the C library made them in one
/// piece; empty if it is not known.
[[nodiscard]] stack_words whole_stack() noexcept;
/// The end of the calling thread's stack; 0 if it is not known or `from` is not on it.
[[nodiscard]] std::uintptr_t own_stack_end(const void* from) noexcept;

/// For functions that read such words: a sanitizer has what is between the variables for nobody's.
#define NODEWISE_READS_STACK [[gnu::no_sanitize_address]]

/// A word as the address it may be: some processors sign return addresses in their upper bits.
[[nodiscard]] inline const char* address_in(std::uintptr_t word) noexcept {
#if defined(__aarch64__)
  constexpr unsigned address_bits = 48;
  word &= (std::uintptr_t{1} << address_bits) - 1;
#endif
  return reinterpret_cast<const char*>(word);
}

} // namespace nodewise::agent
