// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The words of the calling thread's stack. If its bounds are not known (the stack of a coroutine or
// a signal, a thread whose start was not seen), there are no words, rather than a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <pthread.h>

namespace nodewise::agent {

/// For the first thread of the process, when it begins: from now on bounds are recorded.
void note_main_stack() noexcept;
/// The bytes of the stack that the C library will give to a thread with these attributes (nullptr:
/// the default ones); 0 if it will not, or if bounds are not recorded.
[[nodiscard]] std::size_t wanted_stack_bytes(const pthread_attr_t* attributes) noexcept;
/// For any other thread, before it does anything else. No effect if bounds are not recorded.
/// `wanted`: what wanted_stack_bytes() answered for its attributes.
void note_thread_stack(std::size_t wanted) noexcept;

/// Consecutive words, ascending by address: from the innermost frame outwards.
using stack_words = std::span<const std::uintptr_t>;
/// The words after the first one that equals `value`; all if none does.
[[nodiscard]] stack_words words_behind(stack_words words, const void* value) noexcept;

/// The words from `from` on, at most `bytes` bytes.
[[nodiscard]] stack_words own_stack(const void* from, std::size_t bytes) noexcept;
/// The calling thread's whole stack, and its thread-local data if the C library allocated both in
/// one piece; empty if it is not known.
[[nodiscard]] stack_words whole_stack() noexcept;
/// The end of the calling thread's stack; 0 if it is not known or `from` is not on it.
[[nodiscard]] std::uintptr_t own_stack_end(const void* from) noexcept;

/// For functions that read such words: a sanitizer forbids reads between the variables.
#define NODEWISE_READS_STACK [[gnu::no_sanitize_address]]

/// Converts a word to the address that it may be: some processors sign return addresses in their
/// upper bits.
[[nodiscard]] inline const char* address_in(std::uintptr_t word) noexcept {
#if defined(__aarch64__)
  constexpr unsigned address_bits = 48;
  word &= (std::uintptr_t{1} << address_bits) - 1;
#endif
  return reinterpret_cast<const char*>(word);
}

} // namespace nodewise::agent
