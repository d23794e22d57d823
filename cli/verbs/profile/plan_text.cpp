// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/profile/plan_text.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "base/counted.hpp"
#include "base/joined.hpp"
#include "base/printable.hpp"
#include "base/shell_word.hpp"
#include "cli/prediction/words.hpp"
#include "report/table.hpp"
#include "report/wrap.hpp"

namespace nodewise::cli {

namespace {

using report::align;
using report::tone;

/// A table of runs and predictions, one in each row.
class outcomes_table {
 public:
  void add(std::string name, const advise::outcome& what) {
    rows_.emplace_back(std::move(name), what);
  }

  [[nodiscard]] std::string text(const report::style& how) const {
    using advise::outcome;
    std::vector<std::pair<figure, const char*>> figures = {{&outcome::remote, "in use: remote"}};
    if (has(&outcome::seconds)) {
      figures.emplace_back(&outcome::seconds, "model time");
    }
    if (has(&outcome::whole_remote)) {
      figures.emplace_back(&outcome::whole_remote, "whole run: remote");
      if (has(&outcome::whole_seconds)) {
        figures.emplace_back(&outcome::whole_seconds, "model time");
      }
    }
    std::vector<report::column> columns = {{""}};
    for (const auto& [which, title] : figures) {
      columns.push_back({title, align::right});
    }
    report::table shown(std::move(columns), 2);
    for (const auto& [name, what] : rows_) {
      std::vector<report::cell> cells = {name};
      for (const auto& [which, title] : figures) {
        cells.emplace_back(text_of(what, which));
      }
      shown.add(std::move(cells));
    }
    return shown.to_string(how);
  }

 private:
  using figure = std::optional<double> advise::outcome::*;

  [[nodiscard]] bool has(figure which) const {
    return std::ranges::any_of(rows_,
                               [&](const auto& each) { return (each.second.*which).has_value(); });
  }
  static std::string text_of(const advise::outcome& of, figure which) {
    const bool is_time =
        which == &advise::outcome::seconds || which == &advise::outcome::whole_seconds;
    return is_time && of.*which ? format_seconds(*(of.*which))
                                : report::format_percent(of.*which, "unavailable");
  }

  std::vector<std::pair<std::string, advise::outcome>> rows_;
};

std::string what_it_does(const advise::proposal& what) {
  std::vector<std::string> parts;
  if (!what.plan.objects.empty()) {
    parts.push_back(counted(what.plan.objects.size(), "array") + " placed");
  }
  if (what.plan.bind != bind_policy::none) {
    parts.push_back(fmt::format("threads bound {}", to_string(what.plan.bind)));
  }
  return parts.empty() ? "nothing placed, nothing bound" : joined(parts, ", ");
}

std::string sentence(const std::string& text, const report::style& how) {
  return fmt::format("  {}\n", report::wrap_on_terminal(printable(text), how, 2));
}

/// The verdict of the counted runs on the plan.
std::string verdict_text(const proof& proven, const report::style& how) {
  for (const proof::candidate& each : proven.tried) {
    if (!each.result.counted) {
      return sentence(
          fmt::format("The run with {} was not counted: {}", each.name, each.result.problem), how);
    }
  }
  std::vector<std::string> differing;
  for (const proof::candidate& each : proven.tried) {
    if (!each.is_repeatable()) {
      differing.push_back(each.name);
    }
  }
  std::string text;
  if (!differing.empty()) {
    text = sentence(fmt::format("Not chosen: {}. Threads then used other parts of the arrays "
                                "than before, and would use others in the next run.",
                                joined(differing, " and ")),
                    how);
  }
  if (!proven.best && !proven.tried.empty()) {
    text += sentence("No counted run is better than the plain run.", how);
  } else if (proven.best && proven.tried[*proven.best].name != "plan") {
    text += sentence(fmt::format("The best counted run is {}: that is the plan.",
                                 proven.tried[*proven.best].name),
                     how);
  }
  return text;
}

} // namespace

std::string plan_text(const profile::profile& of, const advise::proposal& what,
                      const std::optional<proof>& proven, bool verbose, const report::style& how) {
  const profile::program& program = of.programs[what.program];
  const std::string title = "Plan for " + printable(program.name);
  std::string text =
      fmt::format("{}: {}\n", report::paint(how, tone::strong, title), what_it_does(what));
  outcomes_table rows;
  const bool is_counted = program.use_from == profile::use_source::traffic_count;
  rows.add(is_counted ? "plain run, counted" : "plain run, sampled", what.before);
  if (changes_anything(what)) {
    rows.add("plan, predicted", what.after);
  }
  if (proven) {
    for (const proof::candidate& each : proven->tried) {
      if (each.result.counted) {
        rows.add(each.name + ", counted", *each.result.counted);
      }
    }
  }
  if (what.before.remote && what.after.remote) {
    text += rows.text(how);
  }
  if (proven) {
    text += verdict_text(*proven, how);
  }
  if (what.pays_from) {
    text += sentence(fmt::format("It slows down the initialisation: it pays off if the program "
                                 "repeats what was counted in use at least {} times.",
                                 short_number(*what.pays_from)),
                     how);
  }
  for (const std::string& each : what.remarks) {
    const bool is_condition = !what.disagreement.empty() && each.ends_with(what.disagreement);
    text += verbose || is_condition ? sentence(each, how) : "";
  }
  return text;
}

std::string plan_command_text(const profile::profile& of, std::string_view file,
                              std::string_view options) {
  return printable(fmt::format("  nodewise run --plan {} {}{}-- {}", shell_word(file), options,
                               options.empty() ? "" : " ", joined(of.command, " ", shell_word))) +
         "\n";
}

} // namespace nodewise::cli
