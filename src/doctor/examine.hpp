// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What is permitted and what is in the way, as facts: nothing here prints or decides an exit
// status.
#pragma once

#include <optional>
#include <vector>

#include "doctor/finding.hpp"
#include "doctor/surroundings.hpp"

namespace nodewise::doctor {

/// Tries every system call once, on memory and on a thread of its own, so that nothing of the
/// calling program changes. Never throws for a refusal: that is a finding.
[[nodiscard]] std::vector<finding> try_calls(const surroundings& around);

/// Reads the settings that change where pages and threads go.
[[nodiscard]] std::vector<finding> examine_settings(sys::kernel& from);

[[nodiscard]] examination examine(const surroundings& around);

/// Of the memory control group that this process is in and of those above it, the lowest limit.
struct memory_limit {
  bool readable = false;
  bool limited = false;
  unsigned long long bytes = 0; ///< if limited
  /// What the group nearest to its limit may still take; nothing where no group has one, or none
  /// says what it uses.
  std::optional<unsigned long long> room_bytes;
};
[[nodiscard]] memory_limit read_memory_limit(sys::kernel& from);

} // namespace nodewise::doctor
