// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include <termios.h>

#include "sys/signals.hpp"

namespace nodewise::cli {

/// Waits between two samples until the time has passed or the user ends the watch: Ctrl-C, SIGTERM,
/// or q on a terminal. On a terminal it uses the alternate screen and restores the old one at the
/// end.
class watch_screen {
 public:
  /// standard output is a terminal, and this class draws on it.
  explicit watch_screen(bool drawn);
  watch_screen(const watch_screen&) = delete;
  watch_screen& operator=(const watch_screen&) = delete;
  ~watch_screen();

  /// Replaces the screen's content; lines beyond its height are cut off.
  void draw(const std::string& text) const;
  /// False if the watch must end.
  [[nodiscard]] bool wait(std::chrono::milliseconds time) const;

 private:
  sys::ending_signals signals_;
  bool drawn_;
  bool keys_ = false; ///< the terminal delivers each key at once
  termios before_{};
};

} // namespace nodewise::cli
