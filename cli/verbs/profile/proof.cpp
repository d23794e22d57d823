// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/profile/proof.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/prediction/predicted.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"

namespace nodewise::cli {

namespace {

/// Two runs of one program differ by this much.
constexpr double noise = 0.005;
/// A prediction better by this much is worth another run.
constexpr double worth_a_run = 0.02;
constexpr double never = std::numeric_limits<double>::infinity();

/// The time if the machine has bandwidths, else the remote share.
double cost_of(const advise::outcome& what) {
  return what.seconds ? *what.seconds : what.remote.value_or(never);
}

double cost_of(const counted_outcome& what) {
  return what.counted ? cost_of(*what.counted) : never;
}

/// Difference in the remote share between prediction and count. If threads always use the same
/// parts, runs differ by less than a point, and by the contents of caches.
constexpr double usual_difference = 0.02;
/// If the plan removes most of the remote traffic, caches may explain more of the rest.
constexpr double largest_difference = 0.05;
constexpr double part_of_gain = 0.2;

/// The cheapest counted candidate, if it costs less than the original run. Locality is counted but
/// the time is predicted: of candidates with about the same time, one with a clearly lower remote
/// share wins.
std::optional<std::size_t> best_of(const std::vector<proof::candidate>& all,
                                   const advise::outcome& plain) {
  constexpr double about_as_long = 0.02;
  const auto cost = [&](std::size_t i) { return cost_of(all[i].result); };
  const auto remote = [&](std::size_t i) { return all[i].result.counted->remote.value_or(1); };
  std::vector<std::size_t> better; // cheaper than the plain run
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].allowed && cost(i) < cost_of(plain) * (1 - noise)) {
      better.push_back(i);
    }
  }
  if (better.empty()) {
    return std::nullopt;
  }
  const std::size_t cheapest = *std::ranges::min_element(better, {}, cost);
  std::erase_if(better,
                [&](std::size_t i) { return cost(i) > cost(cheapest) * (1 + about_as_long); });
  const std::size_t nearest = *std::ranges::min_element(better, {}, remote);
  return remote(nearest) + usual_difference < remote(cheapest) ? nearest : cheapest;
}

/// Whether it matters which thread uses which pages.
bool is_by_thread(const plans::plan_file& plan) {
  return std::ranges::any_of(plan.objects, [](const plans::entry& each) {
    return placements::traits_of(each.where.how).by_thread;
  });
}

bool is_as_predicted(const proof::candidate& what, const counted_outcome& result) {
  if (!result.counted || !result.counted->remote || !what.predicted.remote) {
    return true;
  }
  const double predicted = *what.predicted.remote;
  const double difference = std::abs(*result.counted->remote - predicted);
  const double gain = what.remote_before.value_or(predicted) - predicted;
  return difference <= usual_difference ||
         (difference <= largest_difference && difference <= part_of_gain * gain);
}

bool is_nearer(const counted_outcome& what, const advise::outcome& plain) {
  return what.counted && what.counted->remote.value_or(1) <= plain.remote.value_or(0) + noise;
}

using report::tone;

using outcome_rows = std::vector<std::pair<std::string, advise::outcome>>;

/// A table of runs and predictions, one in each row, without the figures that no row has.
std::string outcomes_text(const outcome_rows& rows, const report::style& how) {
  using advise::outcome;
  using figure = std::optional<double> outcome::*;
  const auto has = [&](figure which) {
    return std::ranges::any_of(rows, [&](const auto& row) { return bool(row.second.*which); });
  };
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
    columns.push_back(report::right(title));
  }
  report::table shown(std::move(columns), 2);
  for (const auto& [name, what] : rows) {
    std::vector<report::cell> cells = {name};
    for (const auto& [which, title] : figures) {
      const bool is_time = which == &outcome::seconds || which == &outcome::whole_seconds;
      const std::optional<double>& value = what.*which;
      cells.emplace_back(is_time && value ? format_seconds(*value)
                                          : report::format_percent(value, "unavailable"));
    }
    shown.add(std::move(cells));
  }
  return shown.to_string(how);
}

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

bool proof::candidate::is_repeatable() const noexcept {
  return confirmed && is_as_predicted(*this, result);
}

bool changes_anything(const advise::proposal& what) {
  return !what.plan.objects.empty() || what.rebinds;
}

proof prove(const advise::proposal& what, std::vector<advise::alternative> others, bool by_chance,
            const count_with_plan& run) {
  proof made;
  double least = cost_of(what.before);
  const auto count = [&](std::string name, plans::plan_file plan, const advise::outcome& expected,
                         bool must_be_nearer) {
    counted_outcome found = run(plan);
    proof::candidate& tried = made.tried.emplace_back(proof::candidate{
        std::move(name), std::move(plan), expected, std::move(found), what.before.remote});
    tried.allowed =
        tried.is_repeatable() && (!must_be_nearer || is_nearer(tried.result, what.before));
    least = tried.allowed ? std::min(least, cost_of(tried.result)) : least;
  };
  if (changes_anything(what)) {
    count("plan", what.plan, what.after, false);
    if (!made.tried.front().result.counted) {
      made.best = 0;
      return made;
    }
  }
  std::ranges::sort(others, {}, [](const auto& each) { return cost_of(each.expected); });
  for (advise::alternative& each : others) {
    if (each.plan != what.plan && cost_of(each.expected) < least * (1 - worth_a_run)) {
      count(std::move(each.name), std::move(each.plan), each.expected, each.must_be_nearer);
    }
  }
  made.best = best_of(made.tried, what.before);
  while (by_chance && made.best && is_by_thread(made.tried[*made.best].plan)) {
    proof::candidate& best = made.tried[*made.best];
    best.confirmed = is_as_predicted(best, run(best.plan));
    if (best.confirmed) {
      break;
    }
    best.allowed = false;
    made.best = best_of(made.tried, what.before);
  }
  return made;
}

nlohmann::ordered_json outcome_json(const advise::outcome& what) {
  return {{"remote", report::or_unavailable(what.remote)},
          {"seconds", report::or_unavailable(what.seconds)},
          {"binds", what.binds},
          {"whole_remote", report::or_unavailable(what.whole_remote)},
          {"whole_seconds", report::or_unavailable(what.whole_seconds)}};
}

nlohmann::ordered_json proof_json(const proof& what) {
  const auto candidate_json = [](const proof::candidate& each) {
    nlohmann::ordered_json one = {{"name", each.name}, {"predicted", outcome_json(each.predicted)}};
    if (each.result.counted) {
      one["counted"] = outcome_json(*each.result.counted);
      one["repeatable"] = each.is_repeatable();
    } else {
      one["problem"] = each.result.problem;
    }
    return one;
  };
  return {{"tried", report::json_list(what.tried, candidate_json)},
          {"best", what.best ? what.tried[*what.best].name : "none"}};
}

std::string plan_text(const profile::profile& of, const advise::proposal& what,
                      const std::optional<proof>& proven, bool verbose, const report::style& how) {
  const profile::program& program = of.programs[what.program];
  const std::string title = "Plan for " + printable(program.name);
  std::string text =
      fmt::format("{}: {}\n", report::paint(how, tone::strong, title), what_it_does(what));
  outcome_rows rows;
  const bool is_counted = program.use_from == profile::use_source::traffic_count;
  rows.emplace_back(is_counted ? "plain run, counted" : "plain run, sampled", what.before);
  if (changes_anything(what)) {
    rows.emplace_back("plan, predicted", what.after);
  }
  if (proven) {
    for (const proof::candidate& each : proven->tried) {
      if (each.result.counted) {
        rows.emplace_back(each.name + ", counted", *each.result.counted);
      }
    }
  }
  if (what.before.remote && what.after.remote) {
    text += outcomes_text(rows, how);
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
