// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/threads/thread_table.hpp"

#include <cstring>

#include <sys/prctl.h>
#include <sys/syscall.h>

#include "agent/report/records.hpp"
#include "agent/trace/writes.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::uint32_t state_mask = 3;
constexpr std::uint32_t taken_once = 4;

constinit known_thread table[max_known_threads]{};
constinit std::atomic<std::size_t> next_entry{0};

/// The number of times an entry was taken.
std::uint32_t turn_of(const known_thread& entry) noexcept {
  return entry.mark.load(relaxed) / taken_once;
}

void set_state(known_thread& entry, thread_state state) noexcept {
  entry.mark.store((entry.mark.load(relaxed) & ~state_mask) | static_cast<std::uint32_t>(state),
                   std::memory_order_release);
}

/// The limit for all records: threads of inner teams are started anew for each region.
constexpr std::uint32_t max_told = 16384;
constinit std::atomic<std::uint32_t> told{0};

/// Records the thread at its end, as the table may not have it any more when the process ends.
void tell_inner_thread(known_thread& entry) noexcept {
  if (!is_tracing() || !claim_record(entry) || told.fetch_add(1, relaxed) >= max_told) {
    return;
  }
  nodewise_agent_thread record = {};
  record.tid = entry.tid.load(relaxed);
  record.ordinal = -1;
  record.flags = entry.flags.load(relaxed);
  (void)sys::raw::call(SYS_prctl, PR_GET_NAME, record.name, 0L, 0L, 0L);
  std::memcpy(record.start, entry.start_module, sizeof record.start);
  tell_inner(entry.inner, record);
  tell(NODEWISE_AGENT_THREAD, record.header, sizeof record);
}

/// Entries that were ever taken; reading the others would bring the whole table into memory.
std::size_t used_entries() noexcept {
  const std::size_t taken = next_entry.load(relaxed);
  return taken < max_known_threads ? taken : max_known_threads;
}

bool is_at_work(const known_thread& entry) noexcept {
  const thread_state state = entry.state();
  return state == thread_state::starting || state == thread_state::running;
}

} // namespace

void empty_thread_table() noexcept {
  // Threads of before end no entry of now: taking one increases its count.
  for (std::size_t at = 0; at < used_entries(); ++at) {
    set_state(table[at], thread_state::none);
  }
}

known_thread* take_entry() noexcept {
  for (std::size_t tries = 0; tries < max_known_threads; ++tries) {
    known_thread& entry = table[next_entry.fetch_add(1, relaxed) % max_known_threads];
    std::uint32_t mark = entry.mark.load(relaxed);
    if (is_at_work(entry) ||
        !entry.mark.compare_exchange_strong(mark,
                                            ((mark & ~state_mask) + taken_once) |
                                                static_cast<std::uint32_t>(thread_state::starting),
                                            std::memory_order_acquire)) {
      continue;
    }
    entry.flags.store(0, relaxed);
    entry.tid.store(0, relaxed);
    entry.self.store(pthread_t{}, relaxed);
    entry.unjoined.store(false, relaxed);
    entry.reported.store(false, relaxed);
    entry.name[0] = '\0';
    return &entry;
  }
  return nullptr;
}

void give_back(known_thread& entry) noexcept {
  set_state(entry, thread_state::none);
}

running_thread enter_running(known_thread& entry) noexcept {
  entry.tid.store(static_cast<int>(sys::raw::call(SYS_gettid)), relaxed);
  entry.self.store(::pthread_self());
  set_state(entry, thread_state::running);
  return {&entry, turn_of(entry)};
}

void end_running(const running_thread& ending) noexcept {
  known_thread& entry = *ending.entry;
  if (turn_of(entry) != ending.turn || entry.state() != thread_state::running) {
    return;
  }
  tell_own_writes();
  if (entry.ordinal < 0) {
    if (entry.inner.sizes[0] != 0) {
      tell_inner_thread(entry);
    }
    set_state(entry, thread_state::none);
    return;
  }
  (void)sys::raw::call(SYS_prctl, PR_GET_NAME, entry.name, 0L, 0L, 0L);
  set_state(entry, thread_state::ended);
}

known_thread* find_by_tid(int tid) noexcept {
  for (std::size_t at = 0; at < used_entries(); ++at) {
    if (table[at].state() == thread_state::running && table[at].tid.load(relaxed) == tid) {
      return &table[at];
    }
  }
  return nullptr;
}

bool has_ended(int tid) noexcept {
  for (std::size_t at = 0; at < used_entries(); ++at) {
    if (table[at].tid.load(relaxed) == tid && !is_at_work(table[at])) {
      return true;
    }
  }
  return false;
}

bool claim_record(known_thread& entry) noexcept {
  return !entry.reported.exchange(true, relaxed);
}

known_thread* find_by_handle(pthread_t thread) noexcept {
  for (std::size_t at = 0; at < used_entries(); ++at) {
    if (is_at_work(table[at]) && ::pthread_equal(table[at].self.load(), thread) != 0) {
      return &table[at];
    }
  }
  return nullptr;
}

bool note_joined(pthread_t thread) noexcept {
  // Begins with the latest entry: a joined thread was usually started not long ago.
  const std::size_t next = next_entry.load(relaxed);
  for (std::size_t back = 1; back <= used_entries(); ++back) {
    known_thread& entry = table[(next - back) % max_known_threads];
    if (entry.state() == thread_state::ended && entry.unjoined.load(relaxed) &&
        ::pthread_equal(entry.self.load(), thread) != 0 && entry.unjoined.exchange(false)) {
      return true;
    }
  }
  return false;
}

bool copy_ended(std::size_t i, nodewise_agent_thread& into) noexcept {
  if (i >= used_entries()) {
    return false;
  }
  known_thread& entry = table[i];
  const std::uint32_t before = entry.mark.load(std::memory_order_acquire);
  if (entry.state() != thread_state::ended || !claim_record(entry)) {
    return false;
  }
  into.tid = entry.tid.load(relaxed);
  into.ordinal = entry.ordinal;
  into.flags = entry.flags.load(relaxed);
  std::memcpy(into.name, entry.name, sizeof into.name);
  std::memcpy(into.start, entry.start_module, sizeof into.start);
  std::atomic_thread_fence(std::memory_order_acquire);
  return entry.mark.load(relaxed) == before; // the entry was not taken again meanwhile
}

} // namespace nodewise::agent
