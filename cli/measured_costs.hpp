// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// This machine, or another, with the bandwidths and latencies that were measured on it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

#include "launch/run_options.hpp"

namespace nodewise::cli {

/// A machine with the figures that are known of it.
struct measured_machine {
  topology what;
  std::optional<machine> measured; ///< that these figures are of; not those that firmware publishes
  std::vector<std::string> remarks; ///< from which file they are, or why there are none
};

/// This machine by hwloc, with its own profile if it has one (src/topology/measured_machine.hpp).
/// Throws `error` (input) for a profile that cannot be read.
[[nodiscard]] measured_machine this_machine_with_costs();

/// `what` with the figures of a file, which must be of a machine with the same nodes and
/// processors. Throws `error` (input).
[[nodiscard]] measured_machine machine_with_costs(const topology& what, std::string_view file);

/// Weights by the profile of this machine. The function throws `error` (input): what was asked, why
/// no measurement answers it, how to measure.
[[nodiscard]] launch::weight_source make_weight_source();

} // namespace nodewise::cli
