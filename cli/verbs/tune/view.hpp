// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The result of `nodewise tune`, and how it is shown as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "report/style.hpp"
#include "tune/figure.hpp"
#include "tune/forecast.hpp"
#include "tune/log.hpp"
#include "tune/race.hpp"
#include "tune/setting.hpp"

namespace nodewise::cli {

struct tuned {
  topology on;
  std::vector<std::string> program;
  std::vector<tune::setting> settings; ///< today's first
  tune::figure_source figure;
  double within = 0.03;
  std::vector<tune::logged_run> runs; ///< in their order, with warm-ups
  tune::race_standing standing;
  std::string lab; ///< the virtual machine of the runs: "lab:2x4"; empty: this machine
  std::string log; ///< the file of the runs; empty: none
  bool interrupted = false;
  double seconds = 0; ///< of all runs together
  /// What was seen of the runs, and what could not be made equal: a sentence each.
  std::vector<std::string> remarks = {};
  /// By the model, of each setting; empty: none.
  std::vector<std::optional<tune::forecast>> forecasts = {};
  std::vector<std::string> also = {}; ///< patterns of `logged_run::others`
};

/// Of the runs of a setting, in their order.
struct setting_figures {
  std::vector<double> compared;
  std::vector<double> warm_ups; ///< not compared
};
[[nodiscard]] setting_figures figures_of(const tuned& what, std::size_t candidate);

/// A figure that does not decide.
struct other_figure {
  std::string name;  ///< "wall time", or its pattern
  double median = 0; ///< of all runs; 0: none has it
};
/// Of a setting: the wall time, if another figure decides, and those of `also`.
[[nodiscard]] std::vector<other_figure> other_figures(const tuned& what, std::size_t candidate);

// Words of the forms for programs.
[[nodiscard]] std::string_view state_word(tune::candidate_state what);
/// "wall time", "predicted time", or the pattern that finds it.
[[nodiscard]] std::string figure_name(const tune::figure_source& of);

/// The command line that starts the program with this setting.
[[nodiscard]] std::string line_of(const tuned& what, std::size_t candidate);

/// The candidate to use: the winner, or today's setting.
[[nodiscard]] std::size_t chosen(const tuned& what);

/// The one with the fewest cores whose figures are at most `within` worse than the chosen one's, by
/// the upper end of the interval; nullopt if it is the chosen one, or if cores are unknown.
[[nodiscard]] std::optional<std::size_t> cheapest(const tuned& what);

/// A table of the settings, the verdict and the line to use.
[[nodiscard]] std::string tune_text(const tuned& what, const report::style& how);

} // namespace nodewise::cli
