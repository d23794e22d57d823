// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the process knows of its threads besides the table of threads.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/threads/pin.hpp"

namespace nodewise::agent {

/// Threads that were bound before they began to run: their creator has the handle at once.
class bound_early {
 public:
  void add(pthread_t thread) noexcept { handle_[next_.fetch_add(1) % count] = thread; }
  [[nodiscard]] bool take(pthread_t thread) noexcept {
    for (auto& each : handle_) {
      pthread_t found = thread;
      if (each.load() == thread && each.compare_exchange_strong(found, pthread_t{})) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool any() const noexcept { return next_.load() != 0; }

 private:
  static constexpr std::size_t count = 64;
  std::atomic<pthread_t> handle_[count]{};
  std::atomic<std::size_t> next_{0};
};

/// The numbers of the threads that a program starts. A program that starts a team, joins it and
/// starts another one wants the same places for both. So numbers begin again at 0 when all threads
/// of a team were joined. Threads that run one after the other are not a team, and their numbers
/// continue. They also continue if a thread is detached, or joined unseen by the agent.
class team_numbers {
 public:
  /// `with_main`: the main thread belongs to the team, so that one more thread makes a team.
  [[nodiscard]] std::uint32_t next(bool with_main) noexcept {
    std::uint64_t was = state_.load();
    while (true) {
      const bool alone = was < one_thread;
      const bool team = (was & is_team) != 0;
      const std::uint64_t number = alone && (team || with_main) ? 0 : was & numbers;
      const std::uint64_t now =
          (was / one_thread + 1) * one_thread | (alone ? 0 : is_team) | ((number + 1) & numbers);
      if (state_.compare_exchange_weak(was, now)) {
        return static_cast<std::uint32_t>(number);
      }
    }
  }
  /// The number's thread was never started. The number is used again if it was the last one.
  void give_back(std::uint32_t number) noexcept {
    std::uint64_t was = state_.load();
    while (true) {
      const bool last = (was & numbers) == std::uint64_t{number} + 1;
      if (state_.compare_exchange_weak(was, was - one_thread - (last ? 1 : 0))) {
        return;
      }
    }
  }
  /// A thread with a number was joined.
  void leave() noexcept { state_ -= one_thread; }
  void begin_anew() noexcept { state_ = 0; }

 private:
  static constexpr std::uint64_t one_thread = std::uint64_t{1} << 32;
  static constexpr std::uint64_t is_team = one_thread >> 1;
  static constexpr std::uint64_t numbers = is_team - 1;
  /// Lowest bits: the next number. `is_team`: two threads ran together. Upper half: threads that
  /// were not joined.
  std::atomic<std::uint64_t> state_{0};
};

struct thread_facts {
  pthread_t main{};
  place_list places;
  bool main_works = false;
  team_numbers ordinals;
  std::atomic<std::uint64_t> own_threads{0};
  std::atomic<std::uint64_t> pinned{0};
  std::atomic<std::uint64_t> own_affinity{0};
  std::atomic<int> pin_errno{0};
  std::atomic<std::uint32_t> main_flags{NODEWISE_AGENT_MAIN};
  bound_early early;

  /// The place of a thread: after the main thread's if that works.
  [[nodiscard]] std::size_t place_of(std::uint64_t ordinal) const noexcept {
    return (ordinal + (main_works ? 1 : 0)) % places.count();
  }
};
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
[[gnu::visibility("hidden")]] inline constinit thread_facts facts;

/// Notes that the program, or a library that is not a runtime, has bound a thread.
inline void note_own_affinity(std::atomic<std::uint32_t>& flags) noexcept {
  if ((flags.fetch_or(NODEWISE_AGENT_OWN_AFFINITY) & NODEWISE_AGENT_OWN_AFFINITY) == 0) {
    ++facts.own_affinity;
  }
}

} // namespace nodewise::agent
