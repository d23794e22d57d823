// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
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

/// "17.3 % (15.1 to 19.0 %)", of what the ratio saves or costs.
std::string change_text(const tune::ratio_estimate& of) {
  const double low = 1 - of.high;
  const double high = 1 - of.low;
  if (of.low <= 0 || !std::isfinite(of.high)) {
    return percent(1 - of.ratio);
  }
  return fmt::format("{} ({:.1f} to {:.1f} %)", percent(1 - of.ratio), low * 100, high * 100);
}

std::string figure_text(double value, bool seconds) {
  return seconds ? fmt::format("{:.4g} s", value) : fmt::format("{:.5g}", value);
}

std::string ratio_text(const tune::ratio_estimate& of, bool is_todays) {
  if (is_todays) {
    return "1";
  }
  constexpr double too_wide = 2; // two runs bound hardly anything
  return of.low <= 0 || !(of.high < too_wide * of.low)
             ? fmt::format("about {:.2f}", of.ratio)
             : fmt::format("{:.3f} ({:.3f} to {:.3f})", of.ratio, of.low, of.high);
}

std::string state_text(const tuned& what, std::size_t candidate) {
  const tune::candidate_standing& of = what.standing.candidates[candidate];
  if (of.state == tune::candidate_state::disqualified) {
    return of.reason;
  }
  if (what.standing.leader == candidate) {
    return what.standing.result == tune::verdict::winner ? "fastest" : "ahead in the race";
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

/// "0.52, -3 %": the predicted ratio, and by how much it differs from the one of the race.
std::string predicted_text(const tuned& what, std::size_t candidate) {
  if (candidate == tune::todays || !what.forecasts[candidate]) {
    return candidate == tune::todays ? "" : "unavailable";
  }
  const double likely = what.forecasts[candidate]->likely;
  const tune::candidate_standing& of = what.standing.candidates[candidate];
  return of.race_runs == 0
             ? fmt::format("{:.2f}", likely)
             : fmt::format("{:.2f}, {:+.0f} %", likely, (likely / of.to_todays.ratio - 1) * 100);
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
  std::vector<report::column> columns = {"setting", right("runs"), right("median"), right("ratio")};
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
    const bool out = all[i].state == tune::candidate_state::disqualified || all[i].race_runs == 0;
    return std::tuple(out, i == tune::todays ? 1.0 : all[i].to_todays.ratio, i);
  });
  for (const std::size_t i : order) {
    const std::size_t runs = all[i].race_runs + all[i].confirmation_runs;
    const bool chosen_one = i == chosen(what) && what.standing.result != tune::verdict::none;
    std::vector<report::cell> row = {
        {tune::text(what.settings[i]), chosen_one ? tone::strong : tone::plain},
        fmt::format("{}", runs),
        runs == 0 ? "-" : figure_text(all[i].median, in_seconds),
        runs == 0 ? "-" : ratio_text(all[i].to_todays, i == tune::todays)};
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

std::string verdict_text(const tuned& what) {
  using tune::verdict;
  const tune::race_standing& now = what.standing;
  if (what.interrupted) {
    return "Interrupted: nothing is proved yet. If there is a --log, --resume goes on with it.";
  }
  const std::string today = tune::text(what.settings[tune::todays]);
  const bool is_today = what.settings[tune::todays].options.empty();
  const std::string keep = "Keep " + (is_today ? "what you have" : today);
  const std::string leader = now.leader ? tune::text(what.settings[*now.leader]) : "";
  switch (now.result) {
  case verdict::winner:
    return fmt::format(
        "Use {}: {} {} less time than {}, by {} fresh runs of each (p {:.2g}).", leader,
        what.lab.empty() ? "it takes" : "the model predicts that its memory traffic takes",
        change_text(now.gain), today, now.candidates[*now.leader].confirmation_runs, now.p);
  case verdict::equal:
    return fmt::format("{}: {} was ahead in the race, but in fresh runs the two are equal.", keep,
                       leader);
  case verdict::keep:
    return fmt::format("{}: {}.", keep,
                       any_other_ran(what) ? "no other setting was clearly faster"
                                           : "no other setting could be compared with it");
  case verdict::not_separated:
    return fmt::format("{}: {} was ahead in the race, but the runs did not show a "
                       "difference. More runs (--runs) or a quieter machine may.",
                       keep, leader);
  case verdict::none:
  case verdict::failed:
    break;
  }
  return "";
}

} // namespace

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
      "{} settings, {} runs, {}\n{}\n{}\n", what.settings.size(), what.standing.runs,
      report::format_duration(std::chrono::duration_cast<std::chrono::nanoseconds>(seconds)),
      report::wrap_on_terminal(lab_text(what), how, 0), table_of(what, how));
  text += report::wrap_on_terminal(report::paint(how, tone::strong, verdict_text(what)), how, 0);
  text += fmt::format("\n  {}\n", line_of(what, chosen(what)));
  if (const auto other = cheapest(what)) {
    text += report::wrap_on_terminal(
                fmt::format("With {} cores only, {} takes at most {:.0f} % longer (approximate).",
                            what.settings[*other].cores, tune::text(what.settings[*other]),
                            what.within * 100),
                how, 0) +
            "\n";
  }
  for (const std::string& remark : what.remarks) {
    text += report::wrap_on_terminal("Note: " + remark + ".", how, 6) + "\n";
  }
  return text;
}

} // namespace nodewise::cli
