// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Shows a measurement, and what changed between two measurements.
#pragma once

#include "measure/measurement.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// Matrices and tables, one experiment after another, and the reasons to doubt figures.
[[nodiscard]] std::string measurement_text(const measure::measurement& what,
                                           const report::style& how);

/// Compares figure by figure. Only figures measured in the same way, often enough and undisturbed
/// are called better or worse.
[[nodiscard]] std::string comparison_text(const measure::measurement& before,
                                          const measure::measurement& after,
                                          const report::style& how);

/// What the forms of the result (flags.hpp) are written from.
struct reported_measurement {
  const measure::measurement& what;
  const nlohmann::ordered_json& json; ///< the same
};

/// nodewise/measurement/1: what is written as JSON, and saved for other verbs.
[[nodiscard]] nlohmann::ordered_json measurement_json(const measure::measurement& what,
                                                      const machine& on,
                                                      nlohmann::ordered_json settings);

/// One number with three significant digits; with an exponent from 10^9 on, and where four decimals
/// would not show them.
[[nodiscard]] std::string format_figure(double value);

} // namespace nodewise::cli
