// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/process.hpp"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/allocate.hpp"
#include "agent/announce.hpp"
#include "agent/groups.hpp"
#include "agent/large.hpp"
#include "agent/modules.hpp"
#include "agent/next.hpp"
#include "agent/next_operator.hpp"
#include "agent/placement.hpp"
#include "agent/report.hpp"
#include "agent/rules.hpp"
#include "agent/statics.hpp"
#include "agent/threads.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// A process that makes large objects in a loop is not to be drowned in its own report: so many are
/// described when they are freed, and as many more of those that live to the end.
constexpr std::uint64_t max_records = 4096;

using counter = std::atomic<std::uint64_t>;

struct process_state {
  std::atomic<int> pid{0};
  std::atomic<bool> finishing{false};
  std::atomic<bool> finished{false}; ///< the report is complete
  std::atomic<bool> foreign_malloc{false};
  counter objects{0};
  counter placed{0};
  counter refused{0};
  counter map_limited{0};
  counter coarser{0}; ///< in larger granules than asked, or interleaved: the map limit
  counter records{0};
  counter left_out{0};
  counter lost{0};
  std::atomic<int> refused_errno{0};
};

constinit process_state state;

/// One line on stderr, without stdio's buffers and without an allocation.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept {
  char line[512];
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  const auto bytes = static_cast<std::size_t>(length > 0 ? length : 0);
  (void)!::write(STDERR_FILENO, line, bytes < sizeof line ? bytes : sizeof line - 1);
}

void count_written(bool written) noexcept {
  state.lost += written ? 0 : 1;
}

void report_live(bool wait) noexcept {
  const auto all = objects.snapshot(wait);
  std::uint64_t records = 0;
  for (std::size_t i = 0; i < all.count; ++i) {
    object& what = all.objects[i];
    if (what.pid != state.pid) { // a fork's copy, or never counted
      continue;
    }
    if (++records > max_records) {
      ++state.left_out;
      continue;
    }
    what.flags |= NODEWISE_AGENT_LIVE_AT_END;
    count_written(write_object(asked, what, state.pid));
  }
  object_table::release(all);
}

void say_what_is_not_placed() noexcept {
  const auto number = [](const counter& count) {
    return static_cast<unsigned long long>(count.load());
  };
  const int refusal = state.refused_errno;
  if (state.refused != 0) {
    const char* const name = ::strerrorname_np(refusal);
    const char* const text = ::strerrordesc_np(refusal);
    say("nodewise: %s[%d]: %llu of %llu large objects not placed: mbind answered %s (%s); their "
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
    say("nodewise: %s[%d]: %llu of %llu large objects in larger granules than asked, or "
        "interleaved: granules take mappings, and all of them stay under a quarter of "
        "vm.max_map_count\n",
        program_invocation_short_name, state.pid.load(), number(state.coarser),
        number(state.objects));
  }
}

/// The settings, where the program cannot write over them as it may over its environment (which
/// servers do to show a title in ps).
const char* keep(const char* text) noexcept {
  const std::size_t bytes = std::strlen(text) + 1;
  void* const kept = sys::raw::map(round_up(bytes, page_bytes()), PROT_READ | PROT_WRITE, 0);
  return kept == nullptr ? text : static_cast<const char*>(std::memcpy(kept, text, bytes));
}

/// A program may define malloc itself, in front of any preloaded one. The address alone does not
/// always tell: in a program linked without PIE it can be that of a stub which leads here.
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
  for (counter* each : {&state.objects, &state.placed, &state.refused, &state.map_limited,
                        &state.coarser, &state.records, &state.left_out, &state.lost}) {
    *each = 0;
  }
  state.refused_errno = 0;
}

/// From here on objects are counted and reported as this process's.
void begin_process() noexcept {
  count_afresh();
  state.pid = ::getpid();
  if (asked.report != nullptr) {
    count_written(write_start(asked, state.foreign_malloc, state.pid));
  }
}

void find_next_functions() noexcept {
  find_next_mappers();
  find_next_limits();
  find_next_jemalloc();
  if (!look_at_operators()) {
    malloc_operators = -1; // a library that is loaded for all may bring them yet
  }
  (void)::dlerror(); // what was not found is not the program's affair
}

void before_fork() noexcept {
  lock_groups();
  objects.lock_for_fork();
}
void after_fork_in_parent() noexcept {
  objects.unlock_after_fork();
  unlock_groups();
}

/// The child's copies of the parent's objects are the parent's to report.
void after_fork_in_child() noexcept {
  announce_fork(::getpid(), state.pid);
  objects.unlock_after_fork();
  unlock_groups();
  forget_threads();
  begin_process();
}

[[gnu::constructor]] void start() noexcept {
  const char* const text = ::getenv(NODEWISE_AGENT_VARIABLE);
  if (text == nullptr) {
    return;
  }
  const char* const wrong = parse(keep(text), asked);
  if (wrong != nullptr) {
    asked.report = nullptr;
    say("nodewise: nothing is placed: the agent found %s in %s\n", wrong, NODEWISE_AGENT_VARIABLE);
    return;
  }
  // Handlers of others that run while the locks are held may allocate: the lock of the table knows
  // the thread that forks, and groups only try theirs.
  ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  page_mask = page_bytes() - 1;
  gate_bytes = small_bytes = least_bytes(asked);
  // A leak checker knows the blocks of its own malloc only.
  state.foreign_malloc =
      !malloc_is_ours() || ::dlsym(RTLD_DEFAULT, "__lsan_do_leak_check") != nullptr;
  if (state.foreign_malloc) {
    // It would be asked to free what it has not got, and what is mapped may be its own.
    gate_bytes = small_bytes = SIZE_MAX;
    if (!asked.quiet) {
      say("nodewise: nothing is placed: %s brings its own malloc\n", program_invocation_short_name);
    }
  } else {
    behind.free(nullptr); // finds the functions, if nobody has allocated yet
    next = behind;        // whoever is in front passes on to us
    if (asked.group_bytes != 0 && asked.group_bytes < gate_bytes) {
      small_bytes = asked.group_bytes;
    }
  }
  find_next_functions();
  announce_program(::getpid());
  begin_process();
  start_threads(asked);
  place_statics();
}

[[gnu::destructor]] void end() noexcept {
  finish(true);
}

} // namespace

void count_made(object& what) noexcept {
  what.sequence = state.objects++;
  what.pid = state.pid;
  announce_object(what);
  // Said in advance: a program that becomes another one by exec has no chance to tell its objects.
  if (what.sequence == 0 && what.pid != 0 && asked.report != nullptr) {
    count_written(write_made(asked, what.pid));
  }
  if ((what.flags & (NODEWISE_AGENT_COARSER | NODEWISE_AGENT_INTERLEAVED)) != 0) {
    ++state.coarser;
  }
  if ((what.flags & NODEWISE_AGENT_PLACED) != 0) {
    ++state.placed;
  } else if ((what.flags & NODEWISE_AGENT_MAP_LIMIT) != 0) {
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
  if (state.records++ >= max_records) {
    ++state.left_out;
    return;
  }
  count_written(write_object(asked, what, state.pid));
}

void finish(bool wait) noexcept {
  // A child of vfork() is not this process, though it sees the same memory.
  if (state.pid == 0 || state.pid != ::getpid() || state.finishing.exchange(true)) {
    return;
  }
  announce_end();
  if (asked.report != nullptr) {
    state.lost += write_threads(asked, state.pid);
    report_groups();
    report_live(wait);
    nodewise_agent_end totals = {};
    totals.objects = state.objects;
    totals.placed = state.placed;
    totals.refused = state.refused;
    totals.map_limited = state.map_limited;
    totals.left_out = state.left_out;
    totals.lost = state.lost;
    totals.refused_errno = static_cast<std::uint32_t>(state.refused_errno.load());
    count_threads(totals);
    totals.stripped = stripped_modules();
    totals.groups = count_groups();
    state.finished = true;
    (void)write_end(asked, totals, state.pid);
  }
  if (!asked.quiet) {
    say_what_is_not_placed();
  }
}

} // namespace nodewise::agent
