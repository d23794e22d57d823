// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The first and the last actions of a thread that has an entry in the table.
#include <bit>

#include <sys/prctl.h>

#include "agent/own_stack.hpp"
#include "agent/report/records.hpp"
#include "agent/threads/thread_facts.hpp"
#include "agent/threads/thread_table.hpp"
#include "agent/trace/announce.hpp"
#include "agent/trace/writes.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// A thread that runs, and the number of times its entry was taken before: the only thread of a
/// forked child must not end a thread that the table no longer has.
struct running_thread {
  known_thread& entry;
  std::uint32_t turn;
};

running_thread enter(known_thread& entry) noexcept {
  announce_thread(reporting.pid.load(std::memory_order_relaxed));
  note_thread_stack(entry.stack_bytes);
  const stack_words stack = whole_stack();
  announce_stack(stack.data(), stack.data() + stack.size());
  entry.tid.store(static_cast<int>(sys::raw::call(SYS_gettid)), std::memory_order_relaxed);
  entry.self.store(::pthread_self());
  entry.set_state(thread_state::running);
  if (facts.early.any() && facts.early.take(::pthread_self())) {
    note_own_affinity(entry.flags);
  }
  return {entry, entry.turn()};
}

/// The limit for all records: threads of inner teams are started anew for each region.
constexpr std::uint32_t max_told = 16384;
constinit std::atomic<std::uint32_t> inner_told{0};

/// Records the thread at its end, as the table may not have it any more when the process ends.
void tell_inner_thread(known_thread& entry) noexcept {
  if (!is_tracing() || !claim_record(entry) ||
      inner_told.fetch_add(1, std::memory_order_relaxed) >= max_told) {
    return;
  }
  nodewise_agent_thread record = {};
  describe(entry, record);
  (void)sys::raw::call(SYS_prctl, PR_GET_NAME, record.name, 0L, 0L, 0L);
  tell(NODEWISE_AGENT_THREAD, record.header, sizeof record);
}

/// A runtime's thread is of no further interest.
void leave(void* ending) noexcept {
  const auto& [entry, turn] = *static_cast<const running_thread*>(ending);
  if (entry.turn() != turn || entry.state() != thread_state::running) {
    return;
  }
  tell_own_writes();
  if (entry.ordinal >= 0) {
    (void)sys::raw::call(SYS_prctl, PR_GET_NAME, entry.name, 0L, 0L, 0L);
    entry.set_state(thread_state::ended);
    return;
  }
  if (entry.inner.sizes[0] != 0) {
    tell_inner_thread(entry);
  }
  entry.set_state(thread_state::none);
}

} // namespace

/// The program's function may be left by pthread_exit() or a cancellation. A thread-specific key
/// would note the end too, but for the first key that a thread uses the C library goes through all
/// of them when it ends.
void* run_known(void* entry) {
  running_thread mine = enter(*static_cast<known_thread*>(entry));
  const start_routine& begin = mine.entry.routine;
  void* result = nullptr;
  pthread_cleanup_push(leave, &mine);
  result = begin.run != nullptr
               ? begin.run(begin.argument)
               : std::bit_cast<void*>(static_cast<std::intptr_t>(begin.run_c11(begin.argument)));
  pthread_cleanup_pop(1);
  return result;
}

} // namespace nodewise::agent
