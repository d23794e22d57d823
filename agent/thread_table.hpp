// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What is known of the threads that the process started: a fixed table without locks, as it is read
// at the process's end, perhaps in a signal handler. An entry is taken before its thread starts,
// the thread enters its numbers before the program's code runs in it, and its end is noticed by the
// destructor of a thread-specific key. When the table is full, threads that have ended make room.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

#include "agent/nested_teams.hpp"
#include "agent/protocol.h"

namespace nodewise::agent {

inline constexpr std::size_t max_known_threads = 1024;

enum class thread_state : std::uint32_t { none, starting, running, ended };

struct known_thread {
  std::atomic<pthread_t> self;
  // Written before the thread starts, as are its number and its module.
  void* (*run)(void*) = nullptr;
  int (*run_c11)(void*) = nullptr; ///< instead of `run`
  void* argument = nullptr;
  /// The state in the lower two bits, above it how often the entry was taken.
  std::atomic<std::uint32_t> mark{0};
  std::atomic<std::uint32_t> flags{0}; ///< NODEWISE_AGENT_PINNED, ...
  std::atomic<int> tid{0};
  int ordinal = -1;
  inner_position inner;
  std::atomic<bool> unjoined{false}; ///< it has an ordinal, and nobody has joined it yet
  std::atomic<bool> reported{false}; ///< the report has its record
  char name[16] = {};                ///< written when it ends
  char start_module[NODEWISE_AGENT_NAME_BYTES] = {};

  [[nodiscard]] thread_state state() const noexcept {
    return static_cast<thread_state>(mark.load(std::memory_order_acquire) & 3U);
  }
};

/// For the first thread of the process, once.
void open_thread_table() noexcept;
/// In a forked child.
void empty_thread_table() noexcept;
/// An entry in the state `starting`, or nullptr: no table, or no room in it.
[[nodiscard]] known_thread* take_entry() noexcept;
/// No thread was started.
void give_back(known_thread& entry) noexcept;
/// By the thread itself, before it does anything else.
void enter_running(known_thread& entry) noexcept;

[[nodiscard]] known_thread* find_by_tid(int tid) noexcept;
/// The kernel lists a thread for some time after it has ended here.
[[nodiscard]] bool has_ended(int tid) noexcept;
/// Whether the caller is the one to write the thread's record: a thread may end while the report is
/// written, and has one record all the same.
[[nodiscard]] bool claim_record(known_thread& entry) noexcept;
/// nullptr: one that has not begun to run, the main thread, or one that nobody knows.
[[nodiscard]] known_thread* find_by_handle(pthread_t thread) noexcept;
/// For a thread that has ended and was joined just now: whether it had an ordinal. True once.
[[nodiscard]] bool note_joined(pthread_t thread) noexcept;
/// A copy of the i-th entry if its thread has ended, was pinned or the program's own, and has no
/// record yet; the caller writes it.
[[nodiscard]] bool copy_ended(std::size_t i, nodewise_agent_thread& into) noexcept;

} // namespace nodewise::agent
