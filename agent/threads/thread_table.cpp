// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/threads/thread_table.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace nodewise::agent {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constinit known_thread table[max_known_threads]{};
constinit std::atomic<std::size_t> next_entry{0};

/// Entries that were ever taken; reading the others would bring the whole table into memory.
std::span<known_thread> used_entries() noexcept {
  return {table, std::min(next_entry.load(relaxed), max_known_threads)};
}

/// The first of these that fits, or nullptr.
template <class Fits>
known_thread* find(const Fits& fits) noexcept {
  const auto used = used_entries();
  const auto found = std::ranges::find_if(used, fits);
  return found == used.end() ? nullptr : &*found;
}

bool is_at_work(const known_thread& entry) noexcept {
  const thread_state state = entry.state();
  return state == thread_state::starting || state == thread_state::running;
}

} // namespace

void empty_thread_table() noexcept {
  // Threads of before end no entry of now: taking one increases its count.
  for (known_thread& each : used_entries()) {
    each.set_state(thread_state::none);
  }
}

known_thread* take_entry() noexcept {
  for (std::size_t tries = 0; tries < max_known_threads; ++tries) {
    known_thread& entry = table[next_entry.fetch_add(1, relaxed) % max_known_threads];
    std::uint32_t mark = entry.mark.load(relaxed);
    if (is_at_work(entry) || !entry.mark.compare_exchange_strong(
                                 mark,
                                 ((mark & ~known_thread::state_mask) + known_thread::taken_once) |
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

known_thread* find_by_tid(int tid) noexcept {
  return find([=](const known_thread& each) {
    return each.state() == thread_state::running && each.tid.load(relaxed) == tid;
  });
}

bool has_ended(int tid) noexcept {
  return find([=](const known_thread& each) {
           return each.tid.load(relaxed) == tid && !is_at_work(each);
         }) != nullptr;
}

bool claim_record(known_thread& entry) noexcept {
  return !entry.reported.exchange(true, relaxed);
}

known_thread* find_by_handle(pthread_t thread) noexcept {
  return find([=](const known_thread& each) {
    return is_at_work(each) && ::pthread_equal(each.self.load(), thread) != 0;
  });
}

bool note_joined(pthread_t thread) noexcept {
  // Begins with the latest entry: a joined thread was usually started not long ago.
  const std::size_t next = next_entry.load(relaxed);
  for (std::size_t back = 1; back <= used_entries().size(); ++back) {
    known_thread& entry = table[(next - back) % max_known_threads];
    if (entry.state() == thread_state::ended && entry.unjoined.load(relaxed) &&
        ::pthread_equal(entry.self.load(), thread) != 0 && entry.unjoined.exchange(false)) {
      return true;
    }
  }
  return false;
}

void describe(const known_thread& entry, nodewise_agent_thread& into) noexcept {
  into.tid = entry.tid.load(relaxed);
  into.ordinal = entry.ordinal;
  into.flags = entry.flags.load(relaxed);
  std::memcpy(into.start, entry.start_module, sizeof into.start);
  into.inner_number = entry.inner.number;
  std::memcpy(into.team_sizes, entry.inner.sizes, sizeof into.team_sizes);
  into.last_cpu = -1;
  into.busy_ms = -1;
}

bool copy_ended(std::size_t i, nodewise_agent_thread& into) noexcept {
  if (i >= used_entries().size()) {
    return false;
  }
  known_thread& entry = table[i];
  const std::uint32_t before = entry.mark.load(std::memory_order_acquire);
  if (entry.state() != thread_state::ended || !claim_record(entry)) {
    return false;
  }
  describe(entry, into);
  std::memcpy(into.name, entry.name, sizeof into.name);
  std::atomic_thread_fence(std::memory_order_acquire);
  return entry.mark.load(relaxed) == before; // the entry was not taken again meanwhile
}

} // namespace nodewise::agent
