// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <nlohmann/json.hpp>

#include "cli/frame/result.hpp"
#include "cli/verbs/tune/flags.hpp"
#include "cli/verbs/tune/view.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;

/// The ends of an interval that the runs do not bound are left out.
ordered_json ratio_json(const tune::ratio_estimate& of) {
  ordered_json made = {{"ratio", of.ratio}};
  if (of.low > 0 && std::isfinite(of.high)) {
    made["low"] = of.low;
    made["high"] = of.high;
  }
  return made;
}

std::string_view verdict_word(tune::verdict what, bool interrupted) {
  if (interrupted) {
    return "interrupted";
  }
  switch (what) {
  case tune::verdict::winner:
    return "winner";
  case tune::verdict::equal:
    return "equal";
  case tune::verdict::keep:
    return "keep";
  case tune::verdict::not_separated:
    return "not separated";
  case tune::verdict::none:
  case tune::verdict::failed:
    break;
  }
  return "none";
}

ordered_json candidate_json(const tuned& what, std::size_t i) {
  const tune::candidate_standing& of = what.standing.candidates[i];
  ordered_json made = {{"setting", tune::text(what.settings[i])},
                       {"options", what.settings[i].options},
                       {"state", state_word(of.state)},
                       {"race_runs", of.race_runs},
                       {"confirmation_runs", of.confirmation_runs}};
  if (what.settings[i].cores != 0) {
    made["cores"] = what.settings[i].cores;
  }
  if (of.race_runs != 0) {
    made["median"] = of.median;
    made["to_as_it_is"] = ratio_json(of.to_todays);
  }
  if (!what.forecasts.empty() && what.forecasts[i]) {
    const tune::forecast& ahead = *what.forecasts[i];
    made["predicted"] = {{"ratio", ahead.likely}, {"low", ahead.low}, {"high", ahead.high}};
  }
  ordered_json others = ordered_json::array();
  for (const other_figure& each : other_figures(what, i)) {
    if (each.median > 0) {
      others.push_back({{"figure", each.name}, {"median", each.median}});
    }
  }
  report::add_if_any(made, "others", others);
  report::add_if_any(made, "reason", of.reason);
  const setting_figures figures = figures_of(what, i);
  made["figures"] = figures.compared;
  report::add_if_any(made, "warm_up_figures", ordered_json(figures.warm_ups));
  return made;
}

} // namespace

std::string_view state_word(tune::candidate_state what) {
  switch (what) {
  case tune::candidate_state::set_aside:
    return "set aside";
  case tune::candidate_state::disqualified:
    return "disqualified";
  case tune::candidate_state::racing:
  case tune::candidate_state::leader:
    break;
  }
  return "raced to the end";
}

std::string figure_name(const tune::figure_source& of) {
  if (of.modelled) {
    return "predicted time";
  }
  if (of.marked) {
    return "time between marks";
  }
  return of.is_wall_time() ? "wall time" : of.pattern.value_or("file");
}

std::string tune_json(const tuned& what) {
  ordered_json all = report::envelope("tune", 1, machine_json(what.on.machine()),
                                      settings_json(sys::real_kernel()));
  all["command"] = what.program;
  all["figure"] = figure_name(what.figure);
  if (what.figure.modelled) {
    all["on"] = what.lab;
    all["phase"] = *what.figure.modelled;
  } else if (what.figure.marked) {
    all["phase"] = *what.figure.marked;
  }
  all["higher_is_better"] = what.figure.higher_is_better;
  all["verdict"] = verdict_word(what.standing.result, what.interrupted);
  all["line"] = line_of(what, chosen(what));
  all["chosen"] = chosen(what);
  if (what.standing.leader) {
    all["leader"] = *what.standing.leader;
    all["gain"] = ratio_json(what.standing.gain);
    all["p"] = what.standing.p;
  }
  report::add_if_any(all, "cheapest", cheapest(what));
  all["runs"] = what.standing.runs;
  all["seconds"] = what.seconds;
  ordered_json candidates = ordered_json::array();
  for (std::size_t i = 0; i < what.settings.size(); ++i) {
    candidates.push_back(candidate_json(what, i));
  }
  all["candidates"] = std::move(candidates);
  report::add_if_any(all, "remarks", what.remarks);
  return report::json_text(all);
}

} // namespace nodewise::cli
