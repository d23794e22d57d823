// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/tune.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "drawing/heat_map.hpp"
#include "drawing/ranges.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using drawing::figure_text;
using drawing::weight;
using html::cell_kind;

std::string ratio_words(const std::optional<shown_ratio>& of) {
  if (!of) {
    return std::string(unavailable_cell);
  }
  return of->low && of->high ? fmt::format("{} ({} to {})", figure_text(of->ratio),
                                           figure_text(*of->low), figure_text(*of->high))
                             : figure_text(of->ratio);
}

std::string percents(double change, std::optional<double> low, std::optional<double> high) {
  return low && high
             ? fmt::format("{:.4g} % ({:.4g} to {:.4g} %)", change * 100, *low * 100, *high * 100)
             : fmt::format("{:.4g} %", change * 100);
}

/// "it takes 17.3 % (15.1 to 19.0 %) less time"
std::string tune_gain_words(const shown_tune& of) {
  const shown_ratio& gain = *of.gain;
  const bool bounded = gain.low && gain.high && *gain.low > 0 && *gain.high > 0;
  using end = std::optional<double>;
  if (of.higher_is_better) {
    return fmt::format("its figure is {} higher",
                       percents(1 / gain.ratio - 1, bounded ? end(1 / *gain.high - 1) : end(),
                                bounded ? end(1 / *gain.low - 1) : end()));
  }
  const std::string change = percents(1 - gain.ratio, bounded ? end(1 - *gain.high) : end(),
                                      bounded ? end(1 - *gain.low) : end());
  if (of.is_predicted()) {
    return fmt::format("its memory traffic takes {} less time", change);
  }
  return of.unit.empty() ? fmt::format("its figure is {} lower", change)
                         : fmt::format("it takes {} less time", change);
}

std::string kept_setting(const shown_tune& of) {
  return "Keep " + (of.as_it_is ? "what you have" : of.settings.front().name);
}

std::string tune_sentence(const shown_tune& of) {
  const std::string keep = kept_setting(of);
  const std::string leader = of.leader ? of.settings[*of.leader].name : "the leader";
  switch (of.verdict) {
  case tune_verdict::winner:
    return fmt::format(
        "Use {}{} ({}).", of.settings[of.chosen].name,
        of.gain ? fmt::format(": {} than {}", tune_gain_words(of), of.settings.front().name) : "",
        of.is_predicted() ? "predicted" : "measured");
  case tune_verdict::equal:
    return fmt::format("{}: {} was ahead, but in fresh runs the two are equal.", keep, leader);
  case tune_verdict::keep:
    return keep + ": no other setting was clearly faster.";
  case tune_verdict::not_separated:
    return fmt::format("{}: {} was ahead, but the runs did not show a difference.", keep, leader);
  case tune_verdict::interrupted:
    return "The comparison was interrupted: nothing is proved.";
  case tune_verdict::none:
    break;
  }
  return "The runs led to no verdict.";
}

std::string what_figures_are(const shown_tune& of) {
  return of.is_predicted() ? fmt::format("predicted by a model from memory traffic counted in {}{}",
                                         of.on, of.phase.empty() ? "" : ", " + of.phase)
                           : "measured";
}

std::vector<std::pair<std::string, std::string>> tune_facts(const shown_tune& of,
                                                            const machine& on) {
  std::vector<std::pair<std::string, std::string>> all = {
      {"command", of.command},
      {"machine", machine_name_of(on)},
      {"figure", fmt::format("{}{}; {} is better", of.figure,
                             of.phase.empty() || of.is_predicted() ? "" : " (" + of.phase + ")",
                             of.higher_is_better ? "higher" : "lower")},
      {"figures are", what_figures_are(of)},
      {"runs", fmt::format("{} of {}, in {:.4g} s", of.runs, counted(of.settings.size(), "setting"),
                           of.seconds)}};
  if (of.leader && of.gain) {
    all.emplace_back("ahead", fmt::format("{}: its ratio to {} is {}, from fresh runs alone{}",
                                          of.settings[*of.leader].name, of.settings.front().name,
                                          ratio_words(of.gain),
                                          of.p ? fmt::format("; p {:.2g}", *of.p) : ""));
  }
  return all;
}

std::string state_words(const shown_tune& of, std::size_t which) {
  const shown_setting& setting = of.settings[which];
  if (setting.state == setting_state::disqualified) {
    return setting.reason.empty() ? "disqualified" : "disqualified: " + setting.reason;
  }
  if (which == of.chosen) {
    return "chosen";
  }
  if (of.leader == which) {
    return "ahead, but not proved";
  }
  return setting.state == setting_state::set_aside ? "set aside" : "";
}

drawing::ranges settings_drawing(const shown_tune& of) {
  drawing::ranges made{of.figure + (of.unit.empty() ? "" : " (s)"), false, {}};
  for (const std::size_t i : of.in_order()) {
    const shown_setting& setting = of.settings[i];
    drawing::range_row& row = made.rows.emplace_back();
    row.name = setting.name;
    row.note = state_words(of, i);
    row.points = setting.figures;
    row.median = setting.median;
    if (setting.interval) {
      row.low = setting.interval->first;
      row.high = setting.interval->second;
    }
    row.matters = i == of.chosen                          ? weight::chosen
                  : setting.state == setting_state::raced ? weight::plain
                                                          : weight::faint;
  }
  return made;
}

std::string in_unit(const std::optional<double>& value, const shown_tune& of) {
  return value ? figure_text(*value) + of.unit : std::string(unavailable_cell);
}

html::table figures_table(const shown_tune& of) {
  html::table made{"Figures of all runs, in their order", {{"setting"}, {"figures"}}, {}};
  for (const std::size_t i : of.in_order()) {
    made.rows.push_back({of.settings[i].name, joined(of.settings[i].figures, ", ", [](double each) {
                           return figure_text(each);
                         })});
  }
  return made;
}

/// "2, then 4 fresh ones"
std::string runs_words(const shown_setting& of) {
  return of.confirmation_runs == 0
             ? fmt::format("{}", of.race_runs)
             : fmt::format("{}, then {} fresh", of.race_runs, of.confirmation_runs);
}

std::string others_words(const shown_setting& of) {
  return joined(of.others, "; ", [](const auto& other) {
    return fmt::format("{} {}", other.first, figure_text(other.second));
  });
}

/// A column of the table, left out if no setting has anything for it.
struct setting_column {
  html::column head;
  std::string (*text)(const shown_setting&);
  bool (*has)(const shown_setting&);
};

constexpr auto always = [](const shown_setting&) { return true; };

std::vector<setting_column> setting_columns(const shown_tune& of) {
  const std::vector<setting_column> all = {
      {{"interval of the median", cell_kind::number},
       [](const shown_setting& each) {
         return each.interval ? fmt::format("{} to {}", figure_text(each.interval->first),
                                            figure_text(each.interval->second))
                              : std::string(unavailable_cell);
       },
       always},
      {{"ratio to " + of.settings.front().name, cell_kind::number},
       [](const shown_setting& each) { return ratio_words(each.to_today); },
       always},
      {{"predicted ratio", cell_kind::number},
       [](const shown_setting& each) { return ratio_words(each.predicted); },
       [](const shown_setting& each) { return each.predicted.has_value(); }},
      {{"runs", cell_kind::number}, runs_words, always},
      {{"cores", cell_kind::number},
       [](const shown_setting& each) {
         return each.cores ? fmt::format("{}", *each.cores) : std::string(unavailable_cell);
       },
       [](const shown_setting& each) { return each.cores.has_value(); }},
      {{"other figures"}, others_words, [](const shown_setting& each) {
         return !each.others.empty();
       }}};
  std::vector<setting_column> shown;
  std::ranges::copy_if(all, std::back_inserter(shown), [&](const setting_column& each) {
    return std::ranges::any_of(of.settings, each.has);
  });
  return shown;
}

html::table settings_table(const shown_tune& of) {
  const std::vector<setting_column> columns = setting_columns(of);
  html::table made{"Settings, best first",
                   {{"setting", cell_kind::code}, {"verdict"}, {"median", cell_kind::number}},
                   {}};
  std::ranges::transform(columns, std::back_inserter(made.columns), &setting_column::head);
  for (const std::size_t i : of.in_order()) {
    const shown_setting& each = of.settings[i];
    auto& row = made.rows.emplace_back(
        std::vector{each.name, state_words(of, i), in_unit(each.median, of)});
    for (const setting_column& column : columns) {
      row.push_back(column.text(each));
    }
  }
  return made;
}

void add_line_to_use(const shown_tune& of, report_page& into) {
  html::section& made = into.add_section("use", "The line to use");
  made.command(of.line);
  if (of.cheapest && of.settings[*of.cheapest].cores) {
    made.remark(fmt::format("With {} only, {} is almost as good (approximate).",
                            counted(*of.settings[*of.cheapest].cores, "core"),
                            of.settings[*of.cheapest].name));
  }
}

void add_settings(const shown_tune& of, report_page& into) {
  html::section& made = into.add_section("settings", "The settings");
  into.add_figure(
      made, "settings",
      pictured("The figures of each setting",
               "A row for each setting, best first; the table below has the "
               "numbers.",
               settings_drawing(of)),
      fmt::format("Figures are {}. Dots are runs, the upright line is their median, the bar below "
                  "the dots is the interval of the median: 95 % from six runs on, with fewer the "
                  "range of all runs. {} is to the left.",
                  what_figures_are(of), of.higher_is_better ? "Worse" : "Better"),
      figures_table(of));
  const html::table rows = settings_table(of);
  made.long_table(into.add_table("settings", rows), rows);
  made.remark("A ratio below 1 is better. Ratios are from the race alone, and their intervals are "
              "approximate; only the fresh runs prove a gain.");
}

} // namespace

void add_tune(const json_field& document, report_page& into) {
  check_schema(document, "nodewise/tune/1");
  const topology on(machine_from_json(document.at("machine")));
  const shown_tune of = tune_in(document, on.machine());
  into.set_verdict(tune_sentence(of), tune_facts(of, on.machine()));
  add_line_to_use(of, into);
  add_machine_section(on, {}, into);
  add_settings(of, into);
  if (!of.remarks.empty()) {
    html::section& rest = into.add_section("remarks", "What was seen, and what was not equal");
    rest.list(of.remarks);
  }
}

} // namespace nodewise::cli
