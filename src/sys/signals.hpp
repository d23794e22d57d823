// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Signals around a program that this process starts and supervises.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <optional>

namespace nodewise::sys {

/// From here on, a closed reader is an error to report (EPIPE), not a silent end. Started programs
/// get SIGPIPE as it was before.
void ignore_broken_pipes() noexcept;
/// Restores SIGPIPE as this process found it; call it before exec.
void restore_broken_pipes() noexcept;

/// Sends a signal that came here to the program, too. A signal from the terminal went to the whole
/// foreground group: the program has it already.
void pass_on(const siginfo_t& info, pid_t program) noexcept;

/// While this exists, signals meant for the program, and its end, are waited for instead of
/// handled.
class held_signals {
 public:
  held_signals() noexcept;
  held_signals(const held_signals&) = delete;
  held_signals& operator=(const held_signals&) = delete;
  ~held_signals();

  /// In the child: restores the signal state for the program.
  void restore_for_program() const noexcept;
  [[nodiscard]] siginfo_t wait() const noexcept;
  /// nullopt if the time has passed.
  [[nodiscard]] std::optional<siginfo_t> wait(std::chrono::milliseconds most) const noexcept;

 private:
  void restore() const noexcept;

  sigset_t held_{};
  sigset_t mask_before_{};
  struct sigaction child_before_{};
};

/// While one of these exists, Ctrl-C and similar signals do not end the process; `came` reports
/// them.
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
