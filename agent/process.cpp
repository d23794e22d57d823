// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The start and the end of the agent in a process.
#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>

#include "agent/alloc/groups.hpp"
#include "agent/alloc/large.hpp"
#include "agent/alloc/next.hpp"
#include "agent/alloc/objects.hpp"
#include "agent/alloc/operators.hpp"
#include "agent/alloc/rules.hpp"
#include "agent/alloc/statics.hpp"
#include "agent/alloc/system_facts.hpp"
#include "agent/asked.hpp"
#include "agent/call_on_stack.hpp"
#include "agent/clock.hpp"
#include "agent/interposed.hpp"
#include "agent/messages.hpp"
#include "agent/modules.hpp"
#include "agent/own_descriptors.hpp"
#include "agent/own_stack.hpp"
#include "agent/page.hpp"
#include "agent/report/objects_report.hpp"
#include "agent/report/records.hpp"
#include "agent/threads/threads.hpp"
#include "agent/trace/announce.hpp"
#include "agent/trace/numa_pin.hpp"
#include "agent/trace/stacks.hpp"
#include "agent/trace/writes.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constinit bool foreign_malloc = false;
constinit std::atomic<int> finisher{0}; ///< the thread that writes the end of the report
constinit std::atomic<int> ended{0};    ///< 1 after that; threads that exit meanwhile wait for it

/// Copies the settings, because the program may overwrite its environment (servers do so to show a
/// title in ps).
const char* keep(const char* text) noexcept {
  const std::size_t bytes = std::strlen(text) + 1;
  void* const kept = sys::raw::map(round_up(bytes, page_bytes()), PROT_READ | PROT_WRITE, 0);
  return kept == nullptr ? text : static_cast<const char*>(std::memcpy(kept, text, bytes));
}

/// A program may define malloc itself, in front of any preloaded one. The address alone does not
/// always show this: in a program linked without PIE it can be a stub that leads here.
bool malloc_is_ours() noexcept {
  void* const first = ::dlsym(RTLD_DEFAULT, "malloc");
  void* const first_free = ::dlsym(RTLD_DEFAULT, "free");
  if (first == nullptr || first_free == nullptr || module_base(first) == module_base(&ended)) {
    return true;
  }
  void* const probe = reinterpret_cast<void* (*)(std::size_t)>(first)(asked.threshold_bytes);
  const bool ours = probe == nullptr || is_large(probe);
  reinterpret_cast<void (*)(void*)>(first_free)(probe);
  return ours;
}

/// From here on objects are counted and reported as this process's.
void begin_process() noexcept {
  count_objects_afresh();
  number_afresh();
  forget_allocations();
  reporting.lost = reporting.no_memory = 0;
  reporting.pid = ::getpid();
  if (asked.report != nullptr) {
    write_start(foreign_malloc);
  }
}

/// Records that the calling task is one of the agent's own processes (agent/own_descriptors.hpp).
void tell_helper() noexcept {
  announce_helper();
  if (asked.report != nullptr) {
    nodewise_agent_header record = {};
    tell(NODEWISE_AGENT_HELPER, record, sizeof record);
  }
}

void find_next_functions() noexcept {
  find_next_mappers();
  find_next_limits();
  find_next_jemalloc();
  if (!look_at_operators()) {
    malloc_operators = -1; // a library loaded later into the global scope may bring them
  }
  (void)::dlerror(); // clear the error of our failed search
}

void before_fork() noexcept {
  lock_groups();
  objects.lock_for_fork();
  numa_unpin_all();
}
void after_fork_in_parent() noexcept {
  objects.unlock_after_fork();
  unlock_groups();
}

/// The parent reports its objects, and the child does not report its copies of them.
void after_fork_in_child() noexcept {
  announce_fork(::getpid(), reporting.pid);
  objects.unlock_after_fork();
  unlock_groups();
  forget_threads();
  if (asked.trace) {
    objects.forget_ranges();
    forget_stacks();
    forget_writes();
  }
  begin_process();
  begin_numa_pinning(false);
  ended = finisher.load(); // the finishing thread is the parent's
}

/// Removes the policy that the launcher set for the program's first pages.
void end_policy_of_start() noexcept {
  int mode = 0;
  if (sys::raw::get_mempolicy(&mode, nullptr, 0, nullptr, 0) == 0 &&
      mode == static_cast<int>(sys::preferred_at_start)) {
    (void)sys::raw::set_mempolicy(sys::policy::system_default, nullptr, 0);
  }
}

[[gnu::constructor]] void start() noexcept {
  remember_stderr();
  const char* const text = ::secure_getenv(NODEWISE_AGENT_VARIABLE);
  if (text == nullptr) {
    return;
  }
  end_policy_of_start();
  const char* const wrong = parse(keep(text), asked);
  if (wrong != nullptr) {
    asked.report = nullptr;
    say("nodewise: nothing is placed: the agent found %s in %s\n", wrong, NODEWISE_AGENT_VARIABLE);
    return;
  }
  // Other fork handlers may allocate while the locks are held. The table's lock knows the forking
  // thread, and groups only try to take theirs.
  ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  page_mask = page_bytes() - 1;
  if (needs_stacks(asked) || asked.announce) {
    note_main_stack();
  }
  if (asked.trace) {
    objects.keep_ranges();
  }
  // Finds the functions, if no allocation did so before. A tracer behind the agent looks up its own
  // next functions at its first call; inside a failing search it would call itself for ever.
  behind.free(behind.malloc(1));
  gate_bytes = small_bytes = least_bytes(asked);
  // A leak checker knows only the blocks of its own malloc.
  foreign_malloc = !malloc_is_ours() || ::dlsym(RTLD_DEFAULT, "__lsan_do_leak_check") != nullptr;
  if (foreign_malloc) {
    // The program's malloc would have to free our blocks, and mappings may be its own.
    gate_bytes = small_bytes = SIZE_MAX;
    if (!asked.quiet) {
      say("nodewise: nothing is placed%s: %s overrides malloc\n",
          asked.huge_page_bytes != 0 ? ", and no huge pages are requested" : "",
          program_invocation_short_name);
    }
  } else {
    next = behind; // an allocator in front calls the agent
    if (asked.group_bytes != 0 && asked.group_bytes < gate_bytes) {
      small_bytes = asked.group_bytes;
    }
  }
  find_next_functions();
  read_system_facts_by(with_own_descriptors);
  if (!asked.observe || !asked.trace) { // trace mode places nothing
    read_system_facts();
  }
  announce_program(::getpid());
  if (asked.report != nullptr && !reporting.file.map(asked.report)) {
    asked.report = nullptr;
  }
  begin_process();
  start_threads(asked);
  place_statics();
  begin_own_descriptors(tell_helper);
  begin_numa_pinning(has_objects());
}

/// The program's stack may be a signal stack of a few kilobytes. Only one thread at a time, the
/// finisher, uses this one.
alignas(16) constinit char exit_stack[std::size_t{128} << 10] = {};

/// Writes the remaining records of this process.
void write_end(void* wait) noexcept {
  announce_end();
  if (asked.report != nullptr) {
    write_threads(asked, reporting.pid);
    const bool may_wait = *static_cast<const bool*>(wait);
    report_groups(may_wait);
    report_live(may_wait);
    if (asked.numa_pin) {
      report_numa_pinner();
    }
    tell_all_writes();
    end_record record = {};
    nodewise_agent_end& totals = record.fixed;
    totals.time_ns = now_ns();
    count_objects(record);
    totals.lost = reporting.lost;
    totals.no_memory =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(reporting.no_memory, UINT32_MAX));
    count_threads(totals);
    totals.stripped = stripped_modules();
    totals.groups = count_groups();
    totals.allocations_left_out = allocations_left_out();
    totals.stacks_left_out = stacks_left_out();
    totals.writes_left_out = writes_left_out();
    reporting.finished = true;
    tell(NODEWISE_AGENT_END, totals.header,
         sizeof totals + totals.rules * sizeof record.matched[0]);
  }
  if (!asked.quiet) {
    say_what_is_not_placed();
  }
  ended = 1;
  sys::raw::call(SYS_futex, &ended, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

/// For a thread that exits while another one writes the end of the report. The wait is limited: the
/// other thread may wait for a lock of this one.
void wait_for_end() noexcept {
  constexpr std::uint64_t longest_ns = 5'000'000'000;
  const std::uint64_t begin = now_ns();
  while (ended == 0 && now_ns() - begin < longest_ns) {
    const timespec rest{0, 100'000'000};
    sys::raw::call(SYS_futex, &ended, FUTEX_WAIT_PRIVATE, 0, &rest, nullptr, 0);
  }
}

/// The process ends. `wait` is false if a signal handler may have ended it.
void finish(bool wait) noexcept {
  // A child of vfork() is another process, though it shares the memory.
  if (reporting.pid == 0 || reporting.pid != ::getpid()) {
    return;
  }
  const int self = static_cast<int>(sys::raw::call(SYS_gettid));
  int nobody = 0;
  if (!finisher.compare_exchange_strong(nobody, self)) {
    if (nobody != self) {
      wait_for_end();
    }
    return;
  }
  // Blocks all signals, including the C library's. A handler on an alternate stack would start at
  // its end, over the frames of a handler that exits, and could exit before the report ends.
  const std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t before = 0;
  sys::raw::call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
  nodewise_call_on_stack(exit_stack + sizeof exit_stack, write_end, &wait);
  sys::raw::call(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
}

[[gnu::destructor]] void end() noexcept {
  finish(true);
}

[[noreturn]] void leave(int status) noexcept {
  finish(false);
  for (;;) {
    sys::raw::call(SYS_exit_group, status);
  }
}

} // namespace

} // namespace nodewise::agent

using namespace nodewise::agent;

// On exit() the agent's destructor runs. These functions end a process without it.
NODEWISE_INTERPOSED void _exit(int status) {
  leave(status);
}
NODEWISE_INTERPOSED void _Exit(int status) noexcept {
  leave(status);
}
