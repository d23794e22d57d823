// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/tune/view.hpp"
#include "model/costs.hpp"
#include "report/progress.hpp"
#include "report/table.hpp"
#include "tune/location.hpp"

namespace nodewise::cli {

namespace {

using report::tone;

std::string percent(double ratio) {
  return fmt::format("{:.1f} %", std::abs(ratio) * 100);
}

/// "17.3 % (15.1 to 19.0 %)"; without bounds that are finite "17.3 %".
std::string change_text(double change, double low, double high) {
  return std::isfinite(low) && std::isfinite(high)
             ? fmt::format("{} ({:.1f} to {:.1f} %)", percent(change), low * 100, high * 100)
             : percent(change);
}

std::string figure_text(double value, bool seconds) {
  return seconds ? fmt::format("{:.4g} s", value) : fmt::format("{:.5g}", value);
}

/// Of the medians of all runs, so that the table agrees with itself.
double ratio_of(const tuned& what, std::size_t candidate) {
  const auto& all = what.standing.candidates;
  return all[candidate].median / all[tune::todays].median;
}

/// The same; below 1 is better, also for rates.
double badness_of(const tuned& what, std::size_t candidate) {
  const double ratio = ratio_of(what, candidate);
  return what.figure.higher_is_better ? 1 / ratio : ratio;
}

std::string state_text(const tuned& what, std::size_t candidate) {
  const tune::candidate_standing& of = what.standing.candidates[candidate];
  if (of.state == tune::candidate_state::disqualified) {
    return of.reason;
  }
  if (what.standing.leader == candidate) {
    return what.standing.result == tune::verdict::winner ? "fastest" : "ahead";
  }
  return of.state == tune::candidate_state::set_aside ? "set aside" : "";
}

/// What the figures of virtual machines are.
std::string lab_text(const tuned& what) {
  if (what.lab.empty()) {
    return "";
  }
  const std::string part = what.figure.modelled.value_or("use");
  const bool is_phase = part == "use" || part == "init" || part == "all";
  return fmt::format("The times are a model's prediction from memory traffic counted in {}, {} {}; "
                     "they are not measured.\n",
                     what.lab, is_phase ? "phase" : "region", printable(part));
}

/// Without bandwidths of the machine, the model's times are relative.
bool is_in_seconds(const tuned& what) {
  return what.figure.is_wall_time() || what.figure.marked ||
         (what.figure.modelled && model::costs_of(what.on.machine()).absolute);
}

std::size_t runs_of(const tuned& what, std::size_t candidate) {
  const tune::candidate_standing& of = what.standing.candidates[candidate];
  return of.race_runs + of.confirmation_runs;
}

/// "-1.2 to +3.4 %": the least and the greatest figure, by their difference from the median.
std::string range_text(const tuned& what, std::size_t candidate) {
  const std::vector<double> figures = figures_of(what, candidate).compared;
  if (figures.size() < 2) {
    return "-";
  }
  const double median = what.standing.candidates[candidate].median;
  const auto [least, most] = std::ranges::minmax(figures);
  if (least == most) {
    return "0 %";
  }
  const auto beside_median = [&](double figure) {
    const double tenths = std::round((figure / median - 1) * 1000);
    return tenths == 0 ? "0" : fmt::format("{:+.1f}", tenths / 10);
  };
  return fmt::format("{} to {} %", beside_median(least), beside_median(most));
}

/// "0.52, -3 %": the predicted ratio, and by how much it differs from the one of the race.
std::string predicted_text(const tuned& what, std::size_t candidate) {
  if (candidate == tune::todays || !what.forecasts[candidate]) {
    return candidate == tune::todays ? "" : "unavailable";
  }
  const double likely = what.forecasts[candidate]->likely;
  return runs_of(what, candidate) == 0
             ? fmt::format("{:.2f}", likely)
             : fmt::format("{:.2f}, {:+.0f} %", likely,
                           (likely / badness_of(what, candidate) - 1) * 100);
}

constexpr std::string_view wall_time = "wall time";

/// As the heading of a column.
std::string short_name(const std::string& pattern) {
  constexpr std::size_t most = 20;
  const std::string text = printable(pattern);
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

std::string table_of(const tuned& what, const report::style& how) {
  using report::right;
  std::vector<report::column> columns = {"setting", right("runs"), right("median"), right("range"),
                                         right("ratio")};
  if (!what.forecasts.empty()) {
    columns.push_back(right("predicted, error"));
  }
  for (const other_figure& each : other_figures(what, tune::todays)) {
    columns.push_back(right(short_name(each.name)));
  }
  columns.push_back(report::breaking(""));
  report::table rows(std::move(columns));
  std::vector<std::size_t> order(what.settings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto& all = what.standing.candidates;
  const bool in_seconds = is_in_seconds(what);
  std::ranges::sort(order, {}, [&](std::size_t i) {
    const bool out = all[i].state == tune::candidate_state::disqualified || runs_of(what, i) == 0;
    const bool is_best = i == chosen(what) && what.standing.result == tune::verdict::winner;
    return std::tuple(out, !is_best, out ? 1.0 : badness_of(what, i), i);
  });
  for (const std::size_t i : order) {
    const std::size_t runs = runs_of(what, i);
    const bool chosen_one = i == chosen(what) && what.standing.result != tune::verdict::none;
    std::vector<report::cell> row = {
        {tune::text(what.settings[i]), chosen_one ? tone::strong : tone::plain},
        fmt::format("{}", runs),
        runs == 0 ? "-" : figure_text(all[i].median, in_seconds),
        range_text(what, i),
        runs == 0 || runs_of(what, tune::todays) == 0 ? "-"
                                                      : fmt::format("{:.3g}", ratio_of(what, i))};
    if (!what.forecasts.empty()) {
      row.emplace_back(predicted_text(what, i));
    }
    for (const other_figure& each : other_figures(what, i)) {
      row.emplace_back(each.median == 0 ? "-" : figure_text(each.median, each.name == wall_time));
    }
    row.emplace_back(state_text(what, i), tone::faint);
    rows.add(std::move(row));
  }
  return rows.to_string(how);
}

bool any_other_ran(const tuned& what) {
  const auto& all = what.standing.candidates;
  return std::ranges::any_of(all.begin() + 1, all.end(), [](const auto& each) {
    return each.state != tune::candidate_state::disqualified;
  });
}

/// "it takes 17.3 % (15.1 to 19.0 %) less time"; of another figure, how much better it is.
std::string gain_text(const tuned& what) {
  const tune::ratio_estimate& of = what.standing.gain;
  const double least = of.low > 0 ? of.low : 0; // then 1 / least is no bound
  if (what.figure.higher_is_better) {
    return fmt::format("its figure is {} higher",
                       change_text(1 / of.ratio - 1, 1 / of.high - 1, 1 / least - 1));
  }
  const double bound = least > 0 ? 1 - least : std::numeric_limits<double>::infinity();
  const std::string change = change_text(1 - of.ratio, 1 - of.high, bound);
  if (!what.lab.empty()) {
    return fmt::format("the model predicts that its memory traffic takes {} less time", change);
  }
  return is_in_seconds(what) ? fmt::format("it takes {} less time", change)
                             : fmt::format("its figure is {} lower", change);
}

std::string verdict_text(const tuned& what) {
  using tune::verdict;
  const tune::race_standing& now = what.standing;
  if (what.interrupted) {
    return what.log.empty() ? "Interrupted: nothing is proved yet. With --log FILE, a tune can be "
                              "resumed."
                            : fmt::format("Interrupted: nothing is proved yet. Go on with the same "
                                          "command and --resume {} instead of --log.",
                                          shell_word(what.log));
  }
  const std::string today = tune::text(what.settings[tune::todays]);
  const bool is_today = what.settings[tune::todays].options.empty();
  const std::string keep = "Keep " + (is_today ? "what you have" : today);
  const std::string leader = now.leader ? tune::text(what.settings[*now.leader]) : "";
  switch (now.result) {
  case verdict::winner:
    return fmt::format("Use {}: {} than {}, by {} fresh runs of each (p {:.2g}).", leader,
                       gain_text(what), today, now.candidates[*now.leader].confirmation_runs,
                       now.p);
  case verdict::equal:
    return fmt::format("{}: {} was ahead, but in fresh runs the two are equal.", keep, leader);
  case verdict::keep:
    return fmt::format("{}: {}.", keep,
                       any_other_ran(what)        ? "no other setting was clearly faster"
                       : what.settings.size() > 1 ? "no other setting could be compared with it"
                                                  : "on this machine these options leave no other "
                                                    "setting to try");
  case verdict::not_separated:
    return fmt::format("{}: {} was ahead, but the runs did not show a "
                       "difference. More runs (--runs) or a quieter machine may.",
                       keep, leader);
  case verdict::none:
  case verdict::failed:
    break;
  }
  return "";
}

} // namespace

setting_figures figures_of(const tuned& what, std::size_t candidate) {
  setting_figures all;
  for (const tune::logged_run& run : what.runs) {
    if (run.run.candidate == candidate) {
      // In a virtual machine nothing is warmed up: the first run is compared like the others.
      const bool warm_up = run.run.in == tune::phase::warm_up && !what.figure.modelled;
      (warm_up ? all.warm_ups : all.compared).push_back(run.figure);
    }
  }
  return all;
}

std::vector<other_figure> other_figures(const tuned& what, std::size_t candidate) {
  std::vector<std::vector<double>> values(1 + what.also.size());
  for (const tune::logged_run& run : what.runs) {
    if (run.run.candidate != candidate) {
      continue;
    }
    values[0].push_back(run.wall_s);
    for (std::size_t i = 0; i < std::min(run.others.size(), what.also.size()); ++i) {
      if (run.others[i] > 0) {
        values[1 + i].push_back(run.others[i]);
      }
    }
  }
  std::vector<other_figure> all;
  if (!what.figure.is_wall_time() && what.lab.empty()) {
    all.push_back({std::string(wall_time), tune::median_of(values[0])});
  }
  for (std::size_t i = 0; i < what.also.size(); ++i) {
    all.push_back({what.also[i], tune::median_of(values[1 + i])});
  }
  return all;
}

std::string line_of(const tuned& what, std::size_t candidate) {
  return joined(tune::command_of(what.settings[candidate], {"nodewise", "run"}, what.program), " ",
                shell_word);
}

std::size_t chosen(const tuned& what) {
  return what.standing.result == tune::verdict::winner ? what.standing.leader.value_or(tune::todays)
                                                       : tune::todays;
}

std::optional<std::size_t> cheapest(const tuned& what) {
  const std::size_t best = chosen(what);
  const std::size_t known = what.settings[best].cores;
  const std::size_t cores = known != 0 ? known : what.on.machine().cores.size(); // perhaps all
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < what.settings.size(); ++i) {
    const tune::candidate_standing& of = what.standing.candidates[i];
    const tune::ratio_estimate& ratio = best == tune::todays ? of.to_todays : of.to_leader;
    const std::size_t uses = what.settings[i].cores;
    const std::size_t least = found ? what.settings[*found].cores : cores;
    if (i != best && uses != 0 && uses < least && of.race_runs > 1 &&
        ratio.high <= 1 + what.within && of.state != tune::candidate_state::disqualified) {
      found = i;
    }
  }
  return found;
}

std::string tune_text(const tuned& what, const report::style& how) {
  const auto seconds = std::chrono::duration<double>(what.seconds);
  std::string text = fmt::format(
      "{}, {}, {}\n{}\n{}\n", counted(what.settings.size(), "setting"),
      counted(what.standing.runs, "run"),
      report::format_duration(std::chrono::duration_cast<std::chrono::nanoseconds>(seconds)),
      report::wrap_on_terminal(lab_text(what), how, 0), table_of(what, how));
  text += report::wrap_on_terminal(report::paint(how, tone::strong, verdict_text(what)), how, 0);
  text += what.interrupted ? "\n" : fmt::format("\n  {}\n", line_of(what, chosen(what)));
  if (const auto other = cheapest(what)) {
    text += report::wrap_on_terminal(
                fmt::format("With {} only, {} takes at most {:.0f} % longer (approximate).",
                            counted(what.settings[*other].cores, "core"),
                            tune::text(what.settings[*other]), what.within * 100),
                how, 0) +
            "\n";
  }
  for (const std::string& remark : what.remarks) {
    text += report::wrap_on_terminal("Note: " + remark + ".", how, 6) + "\n";
  }
  return text;
}

} // namespace nodewise::cli
