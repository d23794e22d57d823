// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What was measured, for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/machine.hpp>

#include "measure/measurement.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// Matrices and tables, an experiment after the other, and what makes figures doubtful.
[[nodiscard]] std::string measurement_text(const measure::measurement& what,
                                           const report::style& how);

/// nodewise/measurement/1: the machine with what was measured among its parameters.
[[nodiscard]] nlohmann::ordered_json measurement_json(const measure::measurement& what,
                                                      const machine& on,
                                                      nlohmann::ordered_json settings);

/// Of one number: three significant digits; with an exponent from 10^9 on and where four decimals
/// would not show them.
[[nodiscard]] std::string format_figure(double value);

} // namespace nodewise::cli
