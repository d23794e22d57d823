// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A prediction as its file has it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/json_field.hpp"

namespace nodewise::cli {

/// A reading or a placement.
struct predicted_time {
  std::string name;
  std::optional<double> seconds; ///< nullopt: no bandwidth is known
  double to_asked = 1;           ///< its time over the one that was asked for
};

struct predicted_load {
  std::string name; ///< "memory of node 0"
  std::optional<double> gb_per_s;
  double busy = 0;  ///< share of the time
  double bound = 0; ///< share of the threads' time
};

struct predicted_change {
  std::string what;
  std::string source;
  double less = 0; ///< of the time, if the input is 10 % less
  double more = 0;
};

struct predicted_answer {
  std::optional<double> seconds;
  std::optional<double> gb_per_s;
  std::optional<double> moved_gb_per_s;
  double bytes = 0;
  std::string reading;
  std::vector<predicted_time> readings;
  std::vector<predicted_time> placements; ///< other ones of the same traffic
  std::optional<double> to_best;
  std::vector<predicted_load> loads; ///< what threads wait for most first
  std::vector<predicted_change> changes;
  std::vector<std::string> remarks;
};

struct predicted_input {
  std::string what;
  std::string of;
  std::string value; ///< with its unit
  std::string origin;
  std::string source;
};

/// An answer, or one for each value that was swept.
struct shown_prediction {
  std::string question; ///< "triad on 8 threads, memory local"
  std::vector<std::pair<std::string, std::string>> facts;
  std::string swept;                                             ///< empty: nothing
  std::vector<std::pair<std::string, predicted_answer>> answers; ///< at least one
  std::vector<predicted_input> inputs;
};

/// Throws `error` (input) naming what is wrong.
[[nodiscard]] shown_prediction prediction_in(const json_field& document);

} // namespace nodewise::cli
