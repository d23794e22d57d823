// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `nodewise measure`, converted to the values that src/measure takes, and warnings
// about a measurement that are known before it begins.
#pragma once

#include "cli/frame/invocation.hpp"
#include "measure/session.hpp"

namespace nodewise::cli {

struct measure_plan {
  std::string set; ///< "quick", "full", "chosen", "workgroups"
  std::vector<measure::point> points;
  std::chrono::nanoseconds time_per_point{};
  std::vector<std::string> warnings; ///< for options that are valid but unusual; includes `doubts`
  std::vector<std::string> doubts;   ///< why figures will not show memory performance
};

/// Throws `error` (usage) for options that exclude each other and for too many or too few files:
/// all that can be checked before a file is read.
void require_sense(const invocation& given);

/// Throws `error` (usage), which names the option.
[[nodiscard]] measure_plan plan_of(const invocation& given, const topology& on,
                                   sys::kernel& kernel);

/// The memory that this process may allocate now: on each node, and in its control group.
[[nodiscard]] measure::memory_to_have memory_here(const topology& on, sys::kernel& kernel);

/// The reasons why the figures will not show memory performance, although all can be measured.
[[nodiscard]] std::vector<std::string> doubts(const topology& on, const measure::scope& what,
                                              const std::vector<measure::point>& points,
                                              sys::kernel& kernel);

/// What was asked for but is missing from the points.
[[nodiscard]] std::vector<std::string> left_out(const std::vector<measure::point>& points);

} // namespace nodewise::cli
