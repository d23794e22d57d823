// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What `nodewise measure` was asked for, as values of the room that does it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "cli/invocation.hpp"
#include "measure/points.hpp"
#include "sys/kernel.hpp"

namespace nodewise::cli {

struct measure_plan {
  std::string set; ///< "quick", "full", "chosen", "workgroups"
  std::vector<measure::point> points;
  std::chrono::nanoseconds time_per_point{};
  std::vector<std::string> warnings; ///< of what is possible, and seldom meant; `doubts`, too
  std::vector<std::string> doubts;   ///< why figures will not be those of the memory
};

/// Throws `error` (usage) for options that cannot be meant together, and files that are too many or
/// missing: what can be told before a file is read.
void require_sense(const invocation& given);

/// Throws `error` (usage), naming the option.
[[nodiscard]] measure_plan plan_of(const invocation& given, const topology& on,
                                   sys::kernel& kernel);

} // namespace nodewise::cli
