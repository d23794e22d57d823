// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The model's prediction for counted traffic: a time for each marked region, or for the judged
// phase.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/machine.hpp>

#include "report/style.hpp"
#include "traffic/counts.hpp"

namespace nodewise::cli {

struct predicted_part {
  std::string region; ///< empty: a phase
  traffic::phase when = traffic::phase::use;
  std::optional<double> seconds; ///< nothing if the machine's file has no bandwidth
  double share = 1;              ///< of the times of all parts
  std::optional<double> ratio;   ///< to the best placement
  std::string waits_for;         ///< what takes most of the threads' time
};

/// Leaves out parts that the model cannot price: a part that moved nothing, a machine without
/// memory. The count is valid without a prediction.
[[nodiscard]] std::vector<predicted_part> predict_parts(const traffic::counts& of,
                                                        traffic::phase judged, const machine& on);

/// Begins with an empty line; empty if there are no parts.
[[nodiscard]] std::string predicted_text(const std::vector<predicted_part>& parts,
                                         const report::style& how);
[[nodiscard]] nlohmann::ordered_json predicted_json(const std::vector<predicted_part>& parts);

} // namespace nodewise::cli
