// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/tune/forecasts.hpp"

#include <fmt/core.h>

#include "cli/prediction/settings.hpp"
#include "cli/start/start_run.hpp"
#include "cli/verbs/tune/setting_line.hpp"

namespace nodewise::cli {

namespace {

std::optional<traffic::phase> phase_of(const tune_request& asked, const traffic_file& counted) {
  if (!asked.race.figure.modelled) {
    return counted.judged;
  }
  const std::string& part = *asked.race.figure.modelled;
  return part == "use"    ? std::optional(traffic::phase::use)
         : part == "init" ? std::optional(traffic::phase::initialisation)
                          : std::nullopt;
}

} // namespace

std::vector<std::optional<tune::forecast>>
forecasts_of(const tune_request& asked, const traffic_file& as_it_is, const topology& on) {
  const auto when = phase_of(asked, as_it_is);
  if (!when) {
    return {};
  }
  std::vector<launch::run_options> settings;
  for (const tune::setting& each : asked.race.candidates) {
    settings.push_back(read_run_options(run_line_of(each)));
  }
  std::vector<std::optional<tune::forecast>> made;
  for (const auto& each : predict_settings(as_it_is.all, *when, on, settings)) {
    made.push_back(each ? std::optional(tune::forecast{each->low, each->likely, each->high})
                        : std::nullopt);
  }
  made.front() = tune::forecast{}; // what was counted
  return made;
}

std::string text_of(const tune::dropped_candidate& what,
                    const std::vector<tune::setting>& settings) {
  const std::string better = tune::text(settings[what.better]);
  return fmt::format("dropped: if memory limits the program, the model predicts at least {:.2f} "
                     "times today's time, and at most {:.2f} times for {}",
                     what.least, what.most, better);
}

} // namespace nodewise::cli
