// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/process.hpp"

#include <atomic>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/allocate.hpp"
#include "agent/allocation_log.hpp"
#include "agent/announce.hpp"
#include "agent/call_on_stack.hpp"
#include "agent/clock.hpp"
#include "agent/groups.hpp"
#include "agent/large.hpp"
#include "agent/messages.hpp"
#include "agent/modules.hpp"
#include "agent/next.hpp"
#include "agent/next_operator.hpp"
#include "agent/numa_pin.hpp"
#include "agent/own_descriptors.hpp"
#include "agent/own_stack.hpp"
#include "agent/placement.hpp"
#include "agent/report.hpp"
#include "agent/rules.hpp"
#include "agent/stacks.hpp"
#include "agent/statics.hpp"
#include "agent/threads.hpp"
#include "agent/writes.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// Limits the report of a process that makes large objects in a loop: this many objects are
/// described when they are freed, and as many more of those that live to the end. An allocation is
/// a small record, and the only record of an object that never ends.
constexpr std::uint64_t max_records = 4096;

using counter = std::atomic<std::uint64_t>;

struct process_state {
  std::atomic<int> pid{0};
  std::atomic<int> finisher{0};      ///< the thread that writes the end of the report
  std::atomic<int> ended{0};         ///< 1 after that; threads that exit meanwhile wait for it
  std::atomic<bool> finished{false}; ///< the report is complete
  std::atomic<bool> foreign_malloc{false};
  alignas(64) counter objects{0}; ///< all threads write to it, and read the members before it
  alignas(64) counter not_placed{0};
  counter refused{0};
  counter map_limited{0};
  counter coarser{0}; ///< larger granules than requested, or interleaved: the map limit
  counter records{0};
  counter left_out{0};
  counter lost{0};
  counter no_memory{0};         ///< to make a record
  counter numa_pinned_pages{0}; ///< of objects that have ended
  counter begin_ns{0};
  counter spent_ns{0}; ///< on objects that were freed
  std::atomic<int> refused_errno{0};
  struct {
    counter objects{0};
    counter placed{0};
  } of_rule[NODEWISE_AGENT_MAX_RULES];
};

constinit process_state state;

/// The last record of a process.
struct end_record {
  nodewise_agent_end fixed;
  nodewise_agent_matched matched[NODEWISE_AGENT_MAX_RULES];
};

void count(outcome of_record) noexcept {
  state.lost += of_record == outcome::no_room ? 1 : 0;
  state.no_memory += of_record == outcome::no_memory ? 1 : 0;
}

std::uint32_t clamped(std::uint64_t value) noexcept {
  return value < UINT32_MAX ? static_cast<std::uint32_t>(value) : UINT32_MAX;
}

/// To look up the pages of a freed object takes a tenth of the time of their first touch. So trace
/// mode does it for the first objects, and then as long as it stays below 1 % of the program's
/// time.
bool may_ask(std::uint64_t time_ns) noexcept {
  constexpr std::uint64_t always = 64;
  return !asked.trace || state.records <= always || state.spent_ns * 100 < time_ns - state.begin_ns;
}

void report_live(bool wait) noexcept {
  std::uint64_t records = 0;
  const auto report_one = [&records](object& what) {
    if (what.pid != state.pid) { // a copy in a forked child, or never counted
      return;
    }
    state.numa_pinned_pages += what.numa_pinned.pages;
    if (++records > max_records) {
      ++state.left_out;
      return;
    }
    what.flags |= NODEWISE_AGENT_LIVE_AT_END;
    count(write_object(asked, what, state.pid, true));
  };
  const auto all = objects.snapshot(wait);
  for (std::size_t i = 0; i < all.count; ++i) {
    report_one(all.objects[i]);
  }
  object_table::release(all);
  kept_memory.for_each_lent(report_one);
}

void say_what_is_not_placed() noexcept {
  const auto number = [](const counter& count) {
    return static_cast<unsigned long long>(count.load());
  };
  const int refusal = state.refused_errno;
  if (state.refused != 0) {
    const char* const name = ::strerrorname_np(refusal);
    const char* const text = ::strerrordesc_np(refusal);
    say("nodewise: %s[%d]: %llu of %llu large objects not placed: mbind failed: %s (%s); their "
        "pages are where the program's own policy puts them\n",
        program_invocation_short_name, state.pid.load(), number(state.refused),
        number(state.objects), name == nullptr ? "an errno" : name, text == nullptr ? "?" : text);
  }
  if (state.map_limited != 0) {
    say("nodewise: %s[%d]: %llu of %llu large objects not placed: their policies would take more "
        "than a quarter of vm.max_map_count; a larger --threshold makes fewer\n",
        program_invocation_short_name, state.pid.load(), number(state.map_limited),
        number(state.objects));
  }
  if (state.coarser != 0) {
    say("nodewise: %s[%d]: %llu of %llu large objects in larger granules or parts than requested, "
        "or "
        "interleaved: each takes a mapping, and all of them stay under a quarter of "
        "vm.max_map_count\n",
        program_invocation_short_name, state.pid.load(), number(state.coarser),
        number(state.objects));
  }
}

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
  if (first == nullptr || first_free == nullptr || module_base(first) == module_base(&state)) {
    return true;
  }
  void* const probe = reinterpret_cast<void* (*)(std::size_t)>(first)(asked.threshold_bytes);
  const bool ours = probe == nullptr || is_large(probe);
  reinterpret_cast<void (*)(void*)>(first_free)(probe);
  return ours;
}

void count_afresh() noexcept {
  for (counter* each : {&state.objects, &state.not_placed, &state.refused, &state.map_limited,
                        &state.coarser, &state.records, &state.left_out, &state.lost,
                        &state.no_memory, &state.numa_pinned_pages, &state.spent_ns}) {
    *each = 0;
  }
  state.refused_errno = 0;
  for (std::size_t i = 0; i < asked.rule_count; ++i) {
    state.of_rule[i].objects = state.of_rule[i].placed = 0;
  }
  number_afresh();
  forget_allocations();
}

/// From here on objects are counted and reported as this process's.
void begin_process() noexcept {
  count_afresh();
  state.pid = ::getpid();
  state.begin_ns = now_ns();
  if (asked.report != nullptr) {
    count(write_start(state.foreign_malloc, state.pid));
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
  announce_fork(::getpid(), state.pid);
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
  state.ended = state.finisher.load(); // the finishing thread is the parent's
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
  state.foreign_malloc =
      !malloc_is_ours() || ::dlsym(RTLD_DEFAULT, "__lsan_do_leak_check") != nullptr;
  if (state.foreign_malloc) {
    // The program's malloc would have to free our blocks, and mappings may be its own.
    gate_bytes = small_bytes = SIZE_MAX;
    if (!asked.quiet) {
      say("nodewise: nothing is placed: %s overrides malloc\n", program_invocation_short_name);
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
  if (asked.report != nullptr && !open_report(asked.report)) {
    asked.report = nullptr;
  }
  begin_process();
  start_threads(asked);
  place_statics();
  begin_own_descriptors();
  begin_numa_pinning(state.objects != 0);
}

[[gnu::destructor]] void end() noexcept {
  finish(true);
}

} // namespace

bool is_tracing() noexcept {
  return asked.trace && asked.report != nullptr && state.pid != 0 && !state.finished;
}

void count_unmade() noexcept {
  count(outcome::no_memory);
}

void tell(nodewise_agent_kind kind, nodewise_agent_header& record, std::size_t bytes) noexcept {
  count(append(kind, state.pid, record, bytes));
}

void tell_moved(const object& what) noexcept {
  announce_object(what);
  if (is_tracing() && what.pid == state.pid) {
    log_allocation(what, now_ns());
  }
}

void count_made(object& what) noexcept {
  what.sequence = state.objects++;
  what.pid = state.pid;
  announce_object(what);
  numa_pin_also();
  if (is_tracing()) {
    what.made_by = what.made_by.ns == 0 ? note_allocation(what.caller) : what.made_by;
    log_allocation(what, what.made_by.ns);
  }
  // Recorded in advance: a program that becomes another one by exec cannot report its objects.
  if (what.sequence == 0 && what.pid != 0 && asked.report != nullptr) {
    count(write_made(what.pid));
  }
  if ((what.flags & (NODEWISE_AGENT_COARSER | NODEWISE_AGENT_INTERLEAVED)) != 0) {
    ++state.coarser;
  }
  const bool placed = (what.flags & NODEWISE_AGENT_PLACED) != 0;
  if (what.rule >= 0) {
    auto& of_rule = state.of_rule[what.rule];
    ++of_rule.objects;
    of_rule.placed += placed ? 1 : 0;
  }
  if (placed) {
    return;
  }
  ++state.not_placed;
  if ((what.flags & NODEWISE_AGENT_MAP_LIMIT) != 0) {
    ++state.map_limited;
  } else if (what.refused_errno != 0) {
    ++state.refused;
    int none = 0;
    state.refused_errno.compare_exchange_strong(none, what.refused_errno);
  }
}

void report_freed(const object& what) noexcept {
  announce_freed(what);
  if (asked.report == nullptr || state.finished || what.pid == 0 || what.pid != state.pid) {
    return;
  }
  state.numa_pinned_pages += what.numa_pinned.pages;
  if (state.records++ >= max_records) {
    ++state.left_out;
    return;
  }
  const std::uint64_t begin = now_ns();
  count(write_object(asked, what, state.pid, may_ask(begin)));
  state.spent_ns += now_ns() - begin;
}

void report_numa_pinner() noexcept {
  const numa_pinner_facts facts = numa_pinner();
  nodewise_agent_numa_pinned record = {};
  record.tid = facts.tid;
  record.refused_errno = static_cast<std::uint32_t>(facts.refused_errno);
  record.pages = state.numa_pinned_pages;
  tell(NODEWISE_AGENT_NUMA_PINNED, record.header, sizeof record);
}

void tell_helper() noexcept {
  if (is_tracing()) {
    nodewise_agent_header record = {};
    tell(NODEWISE_AGENT_HELPER, record, sizeof record);
  }
}

namespace {

/// The program's stack may be a signal stack of a few kilobytes. Only one thread at a time, the
/// finisher, uses this one.
alignas(16) constinit char exit_stack[std::size_t{128} << 10] = {};

/// Writes the remaining records of this process.
void write_end(void* wait) noexcept {
  announce_end();
  if (asked.report != nullptr) {
    write_threads(asked, state.pid);
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
    totals.objects = state.objects;
    totals.placed = totals.objects - state.not_placed;
    totals.refused = state.refused;
    totals.map_limited = state.map_limited;
    totals.left_out = state.left_out;
    totals.lost = state.lost;
    totals.no_memory = clamped(state.no_memory);
    totals.refused_errno = static_cast<std::uint32_t>(state.refused_errno.load());
    count_threads(totals);
    totals.stripped = stripped_modules();
    totals.groups = count_groups();
    totals.allocations_left_out = allocations_left_out();
    totals.stacks_left_out = stacks_left_out();
    totals.writes_left_out = writes_left_out();
    state.finished = true;
    totals.rules = static_cast<std::uint32_t>(asked.rule_count);
    for (std::size_t i = 0; i < asked.rule_count; ++i) {
      record.matched[i] = {state.of_rule[i].objects, state.of_rule[i].placed};
    }
    (void)append(NODEWISE_AGENT_END, state.pid, totals.header,
                 sizeof totals + totals.rules * sizeof record.matched[0]);
  }
  if (!asked.quiet) {
    say_what_is_not_placed();
  }
  state.ended = 1;
  sys::raw::call(SYS_futex, &state.ended, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

/// For a thread that exits while another one writes the end of the report. The wait is limited: the
/// other thread may wait for a lock of this one.
void wait_for_end() noexcept {
  constexpr std::uint64_t longest_ns = 5'000'000'000;
  const std::uint64_t begin = now_ns();
  while (state.ended == 0 && now_ns() - begin < longest_ns) {
    const timespec rest{0, 100'000'000};
    sys::raw::call(SYS_futex, &state.ended, FUTEX_WAIT_PRIVATE, 0, &rest, nullptr, 0);
  }
}

} // namespace

void finish(bool wait) noexcept {
  // A child of vfork() is another process, though it shares the memory.
  if (state.pid == 0 || state.pid != ::getpid()) {
    return;
  }
  const int self = static_cast<int>(sys::raw::call(SYS_gettid));
  int nobody = 0;
  if (!state.finisher.compare_exchange_strong(nobody, self)) {
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

} // namespace nodewise::agent
