// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Signals around a program that we start and stay with.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <optional>

namespace nodewise::sys {

/// From here on a reader that went away is an error to report (EPIPE), not a silent end. Programs
/// that are started find SIGPIPE as it was before.
void ignore_broken_pipes() noexcept;
/// SIGPIPE as this process found it: to be called before exec.
void restore_broken_pipes() noexcept;

/// While this lives, signals that are meant for the program, and its end, are waited for instead of
/// handled.
class held_signals {
 public:
  held_signals() noexcept;
  held_signals(const held_signals&) = delete;
  held_signals& operator=(const held_signals&) = delete;
  ~held_signals();

  /// In the child: everything as the program is to find it.
  void restore_for_program() const noexcept;
  [[nodiscard]] siginfo_t wait() const noexcept;
  /// nullopt after the time has passed.
  [[nodiscard]] std::optional<siginfo_t> wait(std::chrono::milliseconds most) const noexcept;

 private:
  void restore() const noexcept;

  sigset_t held_{};
  sigset_t mask_before_{};
  struct sigaction child_before_{};
};

/// While one of these lives, Ctrl-C and its like end no more than what asks it.
class ending_signals {
 public:
  ending_signals() noexcept;
  ending_signals(const ending_signals&) = delete;
  ending_signals& operator=(const ending_signals&) = delete;
  ~ending_signals();

  /// Whether SIGINT, SIGTERM or SIGHUP came since the program's start.
  [[nodiscard]] static bool came() noexcept;

 private:
  static constexpr std::array numbers = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, numbers.size()> before_{};
};

} // namespace nodewise::sys
