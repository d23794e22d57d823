// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Predicted figures and what limits them, in words, and the model's prediction for counted traffic:
// a time for each marked region, or for the judged phase.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "model/predict.hpp"
#include "report/style.hpp"
#include "traffic/counts.hpp"

namespace nodewise::cli {

/// A number above 0 rounded to three significant digits, but not beyond two decimals and not
/// coarser than 1.
[[nodiscard]] std::string short_number(double value);
/// "53.2 ms", "1.20 s"; for times above 0.
[[nodiscard]] std::string format_seconds(double seconds);
/// "18.2 GB/s" of bytes/s, three digits.
[[nodiscard]] std::string format_bandwidth(double bytes_per_s);
/// "memory of node 0", "link 1:0", "path 1:0", "cores of node 0".
[[nodiscard]] std::string load_name(const model::resource_load& load,
                                    const model::machine_costs& on);

struct predicted_part {
  std::string region; ///< empty: a phase
  traffic::phase when = traffic::phase::use;
  std::optional<double> seconds = {}; ///< nothing if the machine's file has no bandwidth
  double share = 1;                   ///< of the times of all parts
  std::optional<double> ratio = {};   ///< to the best placement
  std::string waits_for;              ///< what takes most of the threads' time
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
