// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "cli/verbs/tune/flags.hpp"
#include "cli/verbs/tune/view.hpp"
#include "report/csv.hpp"

namespace nodewise::cli {

namespace {

using report::csv_field;

constexpr std::array columns = {
    "setting",    "figure",          "median",        "ratio_to_as_it_is", "ratio_low",
    "ratio_high", "state",           "chosen",        "race_runs",         "confirmation_runs",
    "cores",      "predicted_ratio", "predicted_low", "predicted_high",    "reason"};

/// The row of the figure that decides.
std::string setting_row(const tuned& what, std::size_t i) {
  const tune::candidate_standing& of = what.standing.candidates[i];
  const tune::ratio_estimate& ratio = of.to_todays;
  const bool ran = of.race_runs != 0;
  const bool bounded = ran && ratio.low > 0 && std::isfinite(ratio.high);
  const auto known_if = [](bool is_known, auto value) {
    return is_known ? csv_field(value) : csv_field("");
  };
  std::vector<csv_field> row = {tune::text(what.settings[i]),
                                figure_name(what.figure),
                                known_if(ran, of.median),
                                known_if(ran, ratio.ratio),
                                known_if(bounded, ratio.low),
                                known_if(bounded, ratio.high),
                                state_word(of.state),
                                i == chosen(what),
                                of.race_runs,
                                of.confirmation_runs,
                                known_if(what.settings[i].cores != 0, what.settings[i].cores)};
  const std::optional<tune::forecast> none;
  const std::optional<tune::forecast>& ahead = what.forecasts.empty() ? none : what.forecasts[i];
  if (ahead) {
    row.insert(row.end(), {ahead->likely, ahead->low, ahead->high});
  } else {
    row.insert(row.end(), 3, "");
  }
  row.emplace_back(of.reason);
  return report::csv_line(row);
}

/// The row of another figure: no more than its median is known.
std::string other_row(const tuned& what, std::size_t i, const other_figure& other) {
  std::vector<csv_field> row(columns.size(), "");
  row[0] = tune::text(what.settings[i]);
  row[1] = other.name;
  row[2] = other.median > 0 ? csv_field(other.median) : csv_field("");
  return report::csv_line(row);
}

} // namespace

std::string tune_csv(const tuned& what) {
  std::string text = report::csv_line(std::vector<csv_field>(columns.begin(), columns.end()));
  for (std::size_t i = 0; i < what.settings.size(); ++i) {
    text += setting_row(what, i);
    for (const other_figure& each : other_figures(what, i)) {
      text += other_row(what, i, each);
    }
  }
  return text;
}

} // namespace nodewise::cli
