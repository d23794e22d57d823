// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "report/style.hpp"

namespace nodewise::report {

/// A progress line on standard error for work that takes longer than two seconds: redrawn in place
/// on a terminal and erased at the end; nothing elsewhere. No thread: `done` draws it.
class progress {
 public:
  using clock = std::chrono::steady_clock;
  /// Work that takes no longer than this shows nothing.
  static constexpr std::chrono::seconds quiet_time{2};
  /// A test replaces these.
  struct surroundings {
    style how;
    std::function<clock::time_point()> now;
    std::function<void(std::string_view)> write;
  };

  /// `total` 0 if the amount of work is unknown: then no remaining time is shown.
  explicit progress(std::string what, std::uint64_t total = 0);
  progress(std::string what, std::uint64_t total, surroundings around);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();

  /// `amount` is done by now. Cheap: draws at most ten times a second.
  void done(std::uint64_t amount);

 private:
  [[nodiscard]] std::string line(std::uint64_t amount, clock::duration elapsed) const;

  std::string what_;
  std::uint64_t total_;
  surroundings around_;
  clock::time_point start_;
  clock::time_point next_;
  bool drawn_ = false;
};

/// "42 s", "3 min 5 s", "2 h 10 min".
[[nodiscard]] std::string format_duration(std::chrono::nanoseconds time);

} // namespace nodewise::report
