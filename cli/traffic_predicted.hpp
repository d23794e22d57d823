// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the model says of counted traffic: a time for each marked region, or for the judged phase.
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
  std::optional<double> seconds; ///< nothing where the machine's file has no bandwidth
  double share = 1;              ///< of the times of all parts
  std::optional<double> ratio;   ///< to the best placement
  std::string waits_for;         ///< what most thread time goes into
};

/// Nothing for a part that the model cannot price: one that moved nothing, a machine without
/// memory. A count is a count without it.
[[nodiscard]] std::vector<predicted_part> predict_parts(const traffic::counts& of,
                                                        traffic::phase judged, const machine& on);

/// With the empty line in front; empty for no parts.
[[nodiscard]] std::string predicted_text(const std::vector<predicted_part>& parts,
                                         const report::style& how);
[[nodiscard]] nlohmann::ordered_json predicted_json(const std::vector<predicted_part>& parts);

} // namespace nodewise::cli
