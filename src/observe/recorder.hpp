// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Samples the page faults of a program while it runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "observe/event_log.hpp"
#include "observe/fault_source.hpp"
#include "sys/programs.hpp"

namespace nodewise::observe {

struct recording_options {
  fault_source_options faults;
  /// Called about ten times a second while the program runs, less often if the call is slow; on any
  /// one thread; may be empty.
  std::function<void()> now_and_then;
};

struct recording {
  event_log log; ///< finished
  source_abilities abilities;
  source_losses losses;
  int pid = 0;
  sys::child_end end;         ///< of a program that was started here
  bool ended = true;          ///< false: an observed process goes on
  std::uint64_t begin_ns = 0; ///< CLOCK_MONOTONIC, as all times
  std::uint64_t end_ns = 0;
  double observer_s = 0; ///< processor time that this process used meanwhile
};

/// Runs `become`, which must replace the process, in a child, and samples it from its exec to its
/// end, with all that it starts. Passes signals on. In the child, exceptions of `become` leave this
/// function, too (sys::run_child). Throws `error` (system) if sampling is refused; then nothing was
/// run.
[[nodiscard]] recording record_program(const std::function<void()>& become,
                                       const recording_options& options);

/// Samples a running process with all its threads and what they start, until it ends, the time is
/// over or `stop` returns true; `stop` is called several times a second. Throws `error`: (usage)
/// there is no such process; (system) sampling is refused.
[[nodiscard]] recording record_process(int pid, std::optional<std::chrono::milliseconds> duration,
                                       const std::function<bool()>& stop,
                                       const recording_options& options);

} // namespace nodewise::observe
