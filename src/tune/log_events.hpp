// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a log holds: the description of a race, and its events.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tune/figure.hpp"
#include "tune/forecast.hpp"
#include "tune/race.hpp"
#include "tune/setting.hpp"

namespace nodewise::tune {

inline constexpr std::string_view log_schema = "nodewise/tune-log/1";

/// What must be the same when a race is resumed, except the settings of the system.
struct log_header {
  std::vector<std::string> command; ///< the program and its arguments
  std::vector<setting> candidates;  ///< today's first
  race_options options;             ///< `candidates` is the length of the list
  figure_source figure;
  /// JSON, as `dump()` writes it: whatever identifies machine and program. null if unknown.
  std::string machine = "null";
  std::string program = "null";
  std::string settings = "null"; ///< the same, of the system: for people
};

/// A run that gave a figure.
struct logged_run {
  run_request run;
  double figure = 0;
  double wall_s = 0;
  double user_s = 0;
  double system_s = 0;
  std::vector<double> others = {}; ///< further figures, which do not decide; 0: not printed
  std::string output = {};         ///< a hash of what it printed, if outputs are compared

  friend bool operator==(const logged_run&, const logged_run&) = default;
};

/// A candidate that was taken out of the race.
struct logged_disqualification {
  std::size_t candidate = 0;
  std::string reason;

  friend bool operator==(const logged_disqualification&, const logged_disqualification&) = default;
};

/// What the model predicts for a candidate, from the first run. It changes nothing in the race:
/// what it drops is logged as a disqualification.
struct logged_forecast {
  std::size_t candidate = 0;
  forecast predicted;

  friend bool operator==(const logged_forecast&, const logged_forecast&) = default;
};

using log_event = std::variant<logged_run, logged_disqualification, logged_forecast>;

} // namespace nodewise::tune
