// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The threads that the process started: a fixed table without locks, because it is read at the
// process's end, perhaps in a signal handler. An entry is taken before its thread starts. The
// thread enters its numbers before the program's code runs in it, and notes its end when that code
// returns or is left. When the table is full, entries of ended threads are reused.
#pragma once

#include <atomic>
#include <cstddef>

#include <pthread.h>

#include "agent/protocol.h"
#include "agent/threads/nested_teams.hpp"

namespace nodewise::agent {

inline constexpr std::size_t max_known_threads = 1024;

enum class thread_state : std::uint32_t { none, starting, running, ended };

/// The function that a thread begins with.
struct start_routine {
  void* (*run)(void*) = nullptr;
  int (*run_c11)(void*) = nullptr; ///< instead of `run`
  void* argument = nullptr;

  [[nodiscard]] const void* code() const noexcept {
    return run != nullptr ? reinterpret_cast<const void*>(run)
                          : reinterpret_cast<const void*>(run_c11);
  }
};

struct known_thread {
  std::atomic<pthread_t> self;
  start_routine routine; // written before the thread starts, as are `ordinal` and `start_module`
  std::size_t stack_bytes = 0; ///< 0: the C library does not allocate its stack
  /// The state in the lower two bits; above it the number of times the entry was taken.
  std::atomic<std::uint32_t> mark{0};
  std::atomic<std::uint32_t> flags{0}; ///< NODEWISE_AGENT_PINNED, ...
  std::atomic<int> tid{0};
  int ordinal = -1;
  inner_position inner;
  std::atomic<bool> unjoined{false}; ///< it has an ordinal and was not joined yet
  std::atomic<bool> reported{false}; ///< the report has its record
  char name[16] = {};                ///< written when it ends
  char start_module[NODEWISE_AGENT_NAME_BYTES] = {};

  [[nodiscard]] thread_state state() const noexcept {
    return static_cast<thread_state>(mark.load(std::memory_order_acquire) & state_mask);
  }
  void set_state(thread_state now) noexcept {
    mark.store((mark.load(std::memory_order_relaxed) & ~state_mask) |
                   static_cast<std::uint32_t>(now),
               std::memory_order_release);
  }
  /// The number of times the entry was taken.
  [[nodiscard]] std::uint32_t turn() const noexcept {
    return mark.load(std::memory_order_relaxed) / taken_once;
  }

  static constexpr std::uint32_t state_mask = 3;
  static constexpr std::uint32_t taken_once = 4;
};

/// What a thread with an entry begins with, as pthread_create() takes it: its first actions, the
/// routine of its known_thread, its last actions. (run_known.cpp)
void* run_known(void* entry);

/// In a forked child.
void empty_thread_table() noexcept;
/// An entry in the state `starting`, or nullptr if there is no room.
[[nodiscard]] known_thread* take_entry() noexcept;

[[nodiscard]] known_thread* find_by_tid(int tid) noexcept;
/// Whether the thread has ended: the kernel lists it for some time after that.
[[nodiscard]] bool has_ended(int tid) noexcept;
/// Whether the caller must write the thread's record: a thread may end while the report is written,
/// and must still have only one record.
[[nodiscard]] bool claim_record(known_thread& entry) noexcept;
/// nullptr for the main thread, an unknown thread, or one that has not begun to run.
[[nodiscard]] known_thread* find_by_handle(pthread_t thread) noexcept;
/// For a thread that has ended and was just joined: whether it had an ordinal. True only once.
[[nodiscard]] bool note_joined(pthread_t thread) noexcept;
/// Writes what the table has into the thread's record, except its name.
void describe(const known_thread& entry, nodewise_agent_thread& into) noexcept;
/// Copies the i-th entry if its thread has ended, was pinned or started by the program itself, and
/// has no record yet. The caller writes the record.
[[nodiscard]] bool copy_ended(std::size_t i, nodewise_agent_thread& into) noexcept;

} // namespace nodewise::agent
