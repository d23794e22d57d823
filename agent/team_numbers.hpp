// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The numbers of threads that a program starts. A program that starts a team, joins it and starts
// another one means the same places by them, so numbers begin again at 0 when everybody of a team
// was joined. One thread after the other is no team: these are counted on, as are all where one is
// detached, or joined in a way that the agent does not see.
#pragma once

#include <atomic>
#include <cstdint>

namespace nodewise::agent {

class team_numbers {
 public:
  /// `with_main`: the main thread is of the team, so that one thread makes one with it.
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
  /// Its thread was never started; unless another has had the next number it is given again.
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
  /// The next number; whether two were there together; in the upper half how many were not joined.
  std::atomic<std::uint64_t> state_{0};
};

} // namespace nodewise::agent
