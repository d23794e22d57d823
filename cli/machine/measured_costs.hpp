// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// This machine, or another, with its measured bandwidths and latencies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

#include "launch/run_options.hpp"

namespace nodewise::cli {

/// A machine with its known figures.
struct measured_machine {
  topology what;
  std::optional<machine> measured;  ///< only the measured figures, not the firmware's
  std::vector<std::string> remarks; ///< the figures' file, or why there are none
};

/// This machine by hwloc, with its saved measurement if there is one
/// (src/topology/measured_machine.hpp). Throws `error` (input) if that cannot be read.
[[nodiscard]] measured_machine this_machine_with_costs();

/// `what` with the figures of a file. The file must describe a machine with the same nodes and
/// processors. Throws `error` (input).
[[nodiscard]] measured_machine machine_with_costs(const topology& what, std::string_view file);

/// Makes weights from this machine's saved measurement. The returned function throws `error`
/// (input), which states the request, why no measurement answers it, and how to measure.
[[nodiscard]] launch::weight_source make_weight_source();

} // namespace nodewise::cli
