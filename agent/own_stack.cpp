// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/own_stack.hpp"

#include <atomic>

#include <sys/resource.h>

// The initial stack pointer of the first thread, which the loader keeps.
extern "C" void* __libc_stack_end;

namespace nodewise::agent {

namespace {

struct bounds {
  std::uintptr_t begin;
  std::uintptr_t end;

  [[nodiscard]] bool hold(std::uintptr_t address) const noexcept {
    return address >= begin && address < end;
  }
};

/// In the static part of thread-local storage, which exists from the thread's first instruction on.
[[gnu::tls_model("initial-exec")]] constinit thread_local bounds mine{};

/// Written before there are other threads.
constinit bool keeps_bounds = false;

/// From a thread's handle, which is an address in its stack, to the end of the stack: the same in
/// all stacks from the C library. 0 until it was measured. Measuring allocates in the thread, and a
/// thread that never allocates should not begin to: its heap would be more memory than its stack.
constinit std::atomic<std::uintptr_t> bytes_above{0};

/// The bytes of the stack that the C library allocates; 0 if the attributes have a stack.
std::size_t bytes_to_allocate(const pthread_attr_t& attributes) noexcept {
  void* start = nullptr;
  std::size_t bytes = 0;
  const bool known = ::pthread_attr_getstack(&attributes, &start, &bytes) == 0;
  const bool have_stack = reinterpret_cast<std::uintptr_t>(start) + bytes != 0; // else it ends at 0
  constexpr std::size_t alignment = 64;
  return known && !have_stack ? bytes / alignment * alignment : 0;
}

/// Of the calling thread.
bounds measured_bounds() noexcept {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) {
    return {};
  }
  bounds made{};
  void* start = nullptr;
  std::size_t bytes = 0;
  if (::pthread_attr_getstack(&attributes, &start, &bytes) == 0) {
    const auto begin = reinterpret_cast<std::uintptr_t>(start);
    made = {begin, begin + bytes};
  }
  ::pthread_attr_destroy(&attributes);
  return made;
}

} // namespace

void note_main_stack() noexcept {
  // The kernel maps nothing else within the stack's limit below its end, or within 1 GiB at most.
  constexpr rlim_t most = rlim_t{1} << 30;
  struct rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_STACK, &limit) == 0;
  const rlim_t room = known && limit.rlim_cur < most ? limit.rlim_cur : most;
  const auto end = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
  mine = {end > room ? end - room : 0, end};
  keeps_bounds = true;
}

std::size_t wanted_stack_bytes(const pthread_attr_t* attributes) noexcept {
  if (!keeps_bounds) {
    return 0;
  }
  if (attributes != nullptr) {
    return bytes_to_allocate(*attributes);
  }
  pthread_attr_t usual;
  if (::pthread_getattr_default_np(&usual) != 0) {
    return 0;
  }
  const std::size_t bytes = bytes_to_allocate(usual);
  ::pthread_attr_destroy(&usual);
  return bytes;
}

void note_thread_stack(std::size_t wanted) noexcept {
  if (!keeps_bounds) {
    return;
  }
  const auto self = reinterpret_cast<std::uintptr_t>(::pthread_self());
  const std::uintptr_t above = bytes_above.load(std::memory_order_relaxed);
  if (wanted != 0 && above != 0) {
    const std::uintptr_t end = self + above;
    mine = {end - wanted, end}; // a stack that ended threads left may be larger
    return;
  }
  mine = measured_bounds();
  if (wanted != 0 && mine.hold(self)) {
    bytes_above.store(mine.end - self, std::memory_order_relaxed);
  }
}

NODEWISE_READS_STACK stack_words words_behind(stack_words words, const void* value) noexcept {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (address_in(words[i]) == value) {
      return words.subspan(i + 1);
    }
  }
  return words;
}

stack_words whole_stack() noexcept {
  return {reinterpret_cast<const std::uintptr_t*>(mine.begin),
          reinterpret_cast<const std::uintptr_t*>(mine.end)};
}

std::uintptr_t own_stack_end(const void* from) noexcept {
  return mine.hold(reinterpret_cast<std::uintptr_t>(from)) ? mine.end : 0;
}

stack_words own_stack(const void* from, std::size_t bytes) noexcept {
  constexpr std::size_t word = sizeof(std::uintptr_t);
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(from) + word - 1) & ~(word - 1);
  if (!mine.hold(first)) {
    return {};
  }
  const std::size_t left = mine.end - first;
  const std::size_t count = (left < bytes ? left : bytes) / word;
  return {reinterpret_cast<const std::uintptr_t*>(first), count};
}

} // namespace nodewise::agent
