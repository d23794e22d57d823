// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A comparison of settings as its file has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "topology/json_field.hpp"

namespace nodewise::cli {

/// Below 1 is better. An interval that the runs do not bound has no ends.
struct shown_ratio {
  double ratio = 1;
  std::optional<double> low = {};
  std::optional<double> high = {};
};

enum class setting_state { raced, set_aside, disqualified };

struct shown_setting {
  std::string name; ///< "as it is"
  setting_state state = setting_state::raced;
  std::string reason; ///< why it was disqualified
  std::uint64_t race_runs = 0;
  std::uint64_t confirmation_runs = 0;
  std::optional<std::uint64_t> cores = {};
  std::optional<double> median = {};
  std::optional<shown_ratio> to_today = {};
  std::optional<shown_ratio> predicted = {};
  std::vector<double> figures = {};
  std::vector<std::pair<std::string, double>> others = {}; ///< medians of further figures
  /// Of the figures' median: 95 % from six runs on, with fewer the range of all.
  std::optional<std::pair<double, double>> interval = {};
};

enum class tune_verdict { winner, equal, keep, not_separated, interrupted, none };

struct shown_tune {
  std::string command;
  std::string figure; ///< "wall time"
  std::string unit;   ///< " s", or empty
  std::string on;     ///< the virtual machine; empty: this machine
  std::string phase;
  bool higher_is_better = false;
  tune_verdict verdict = tune_verdict::none;
  std::string line;
  std::size_t chosen = 0;
  std::optional<std::size_t> leader = {};
  std::optional<shown_ratio> gain = {};
  std::optional<double> p = {};
  std::optional<std::size_t> cheapest = {};
  std::uint64_t runs = 0;
  double seconds = 0;
  bool as_it_is = true; ///< the first setting is the program without options
  std::vector<shown_setting> settings = {};
  std::vector<std::string> remarks = {};

  [[nodiscard]] bool is_predicted() const { return !on.empty(); }
  /// Positions in `settings`: best median first, then those without figures.
  [[nodiscard]] std::vector<std::size_t> in_order() const;
};

/// Throws `error` (input) naming what is wrong.
[[nodiscard]] shown_tune tune_in(const json_field& document, const machine& on);

} // namespace nodewise::cli
