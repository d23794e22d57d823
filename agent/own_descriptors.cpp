// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/own_descriptors.hpp"

#include <atomic>
#include <csignal>

#include <sched.h>
#include <sys/wait.h>

#include "sys/raw.hpp"

extern "C" [[gnu::weak]] char __libc_single_threaded; // NOLINT: the C library's name

namespace nodewise::agent {

namespace {

constexpr std::size_t stack_bytes = std::size_t{128} << 10;
constexpr std::size_t kernel_set_bytes = 8; ///< of a signal set

constinit std::atomic<void (*)() noexcept> first_act{nullptr};

struct job {
  void (*work)(void*);
  void* with;
};

int run(void* what) {
  first_act.load(std::memory_order_relaxed)();
  const job& mine = *static_cast<job*>(what);
  mine.work(mine.with);
  return 0;
}

/// Like posix_spawn(): the calling thread is suspended until the process has ended, so that both
/// can use the same thread-local variables. The process has no exit signal, so only wait4() with
/// __WCLONE sees it and the program's wait() does not. False if the kernel refuses.
bool run_beside(job& what, char* stack) noexcept {
  const int pid = ::clone(run, stack + stack_bytes, CLONE_VM | CLONE_VFORK, &what);
  if (pid > 0) {
    while (sys::raw::call(SYS_wait4, pid, nullptr, __WCLONE, nullptr) == -EINTR) {
    }
  }
  return pid > 0;
}

} // namespace

bool is_single_threaded() noexcept {
  return &__libc_single_threaded != nullptr && __libc_single_threaded != 0;
}

void with_own_descriptors(void (*work)(void*), void* with) noexcept {
  const int kept = errno;
  // If no other thread runs, no thread can open a file meanwhile.
  void* const stack = first_act.load(std::memory_order_relaxed) != nullptr && !is_single_threaded()
                          ? sys::raw::map(stack_bytes, PROT_READ | PROT_WRITE, MAP_STACK)
                          : nullptr;
  bool done = false;
  if (stack != nullptr) {
    // Blocks all signals, including the C library's: the program's handlers must not run in `work`.
    const std::uint64_t all = UINT64_MAX;
    std::uint64_t before = 0;
    sys::raw::call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, kernel_set_bytes);
    job what{work, with};
    done = run_beside(what, static_cast<char*>(stack));
    sys::raw::call(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, kernel_set_bytes);
    sys::raw::unmap(stack, stack_bytes);
  }
  if (!done) {
    work(with);
  }
  errno = kept;
}

void begin_own_descriptors(void (*first)() noexcept) noexcept {
  first_act.store(first, std::memory_order_relaxed);
}

// The table is empty, since a copy would keep the program's pipes open for good.
long leave_descriptors() noexcept {
#ifdef SYS_close_range
  constexpr unsigned unshare = 2; // CLOSE_RANGE_UNSHARE, Linux 5.9
  return sys::raw::call(SYS_close_range, 0U, ~0U, unshare);
#else
  return -ENOSYS;
#endif
}

} // namespace nodewise::agent
