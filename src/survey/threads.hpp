// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where the threads of one host's ranks may run, judged by their masks alone. Hosts with the same
// masks have the same faults, so each layout is judged once.
#pragma once

#include <string>
#include <vector>

#include "survey/finding.hpp"

namespace nodewise::survey {

/// A fault of some of the host's ranks, by their positions in `surveyed_host::ranks`.
struct layout_fault {
  fault what = fault::unbound;
  std::string evidence;
  std::vector<std::size_t> ranks; ///< ascending; empty: of the whole host
};

/// The same for hosts with the same hardware and masks.
[[nodiscard]] std::string layout_key(const surveyed_host& host);
[[nodiscard]] std::vector<layout_fault> judge_layout(const surveyed_host& host);

/// The mask of each worker; the rank's mask if no worker was seen.
[[nodiscard]] std::vector<cpu_set> masks_of(const rank_record& rank);
/// The union of its masks.
[[nodiscard]] cpu_set reach_of(const rank_record& rank);

} // namespace nodewise::survey
