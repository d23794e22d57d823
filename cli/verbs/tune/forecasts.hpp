// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Forecasts of the settings, from the counted traffic of the program as it is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "cli/prediction/counted.hpp"
#include "cli/verbs/tune/options.hpp"
#include "tune/forecast.hpp"

namespace nodewise::cli {

/// One for each setting. Empty if the race is about a part of the run for which there is no
/// prediction: all of it, or a region.
[[nodiscard]] std::vector<std::optional<tune::forecast>>
forecasts_of(const tune_request& asked, const traffic_file& as_it_is, const topology& on);

/// Why a setting does not run, for the table.
[[nodiscard]] std::string text_of(const tune::dropped_candidate& what,
                                  const std::vector<tune::setting>& settings);

} // namespace nodewise::cli
