// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include <termios.h>

#include "sys/signals.hpp"

namespace nodewise::cli {

/// Waits between two looks until the time has passed or somebody wants to end: Ctrl-C, SIGTERM, or
/// q on a terminal. On a terminal, a screen of its own meanwhile, given back at the end.
class watch_screen {
 public:
  /// `drawn`: standard output is a terminal and is to be drawn upon.
  explicit watch_screen(bool drawn);
  watch_screen(const watch_screen&) = delete;
  watch_screen& operator=(const watch_screen&) = delete;
  ~watch_screen();

  /// In the place of what is there; what does not fit the height is cut off.
  void draw(const std::string& text) const;
  /// False if it is to end.
  [[nodiscard]] bool wait(std::chrono::milliseconds time) const;
  [[nodiscard]] static bool is_ended() noexcept;

 private:
  sys::ending_signals signals_;
  bool drawn_;
  bool keys_ = false; ///< keys are read one by one
  termios before_{};
};

} // namespace nodewise::cli
