// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `nodewise measure`, converted to the values that src/measure takes.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "cli/frame/invocation.hpp"
#include "measure/points.hpp"
#include "sys/kernel.hpp"

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

} // namespace nodewise::cli
