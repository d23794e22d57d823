// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numeric>

#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/tune.hpp"
#include "measure/statistics.hpp"
#include "model/costs.hpp"

namespace nodewise::cli {

namespace {

constexpr std::array<std::string_view, 3> setting_states = {"raced to the end", "set aside",
                                                            "disqualified"};
constexpr std::array<std::string_view, 6> tune_verdicts = {"winner",        "equal",       "keep",
                                                           "not separated", "interrupted", "none"};

shown_ratio ratio_in(const json_field& field) {
  const json_field ratio = field.at("ratio");
  shown_ratio made{.ratio = ratio.number()};
  if (made.ratio <= 0) {
    ratio.refuse("it is not above 0", "write the ratio of two figures");
  }
  const auto low = field.find("low");
  const auto high = field.find("high");
  if (low && high) {
    made.low = amount_in(*low);
    made.high = amount_in(*high);
  }
  return made;
}

std::optional<shown_ratio> ratio_if_any(const json_field& of, std::string_view key) {
  const auto found = of.find(key);
  return found ? std::optional(ratio_in(*found)) : std::nullopt;
}

std::vector<double> numbers_in(const json_field& list) {
  std::vector<double> all;
  for (const json_field& each : list.elements()) {
    all.push_back(each.number());
  }
  return all;
}

std::optional<std::pair<double, double>> interval_of(std::vector<double> figures) {
  if (figures.size() < 2) {
    return std::nullopt;
  }
  std::ranges::sort(figures);
  const measure::median_bounds bounds = measure::bounds_of_median(figures.size());
  return std::pair(figures.at(bounds.first), figures.at(bounds.last));
}

shown_setting setting_in(const json_field& field) {
  shown_setting made{.name = field.at("setting").text(),
                     .state = static_cast<setting_state>(field.at("state").one_of(setting_states)),
                     .reason = {},
                     .race_runs = field.at("race_runs").whole_number(),
                     .confirmation_runs = field.at("confirmation_runs").whole_number()};
  if (const auto reason = field.find("reason")) {
    made.reason = reason->text();
  }
  if (const auto cores = field.find("cores")) {
    made.cores = cores->whole_number(1);
  }
  if (const auto median = field.find("median")) {
    made.median = median->number();
  }
  made.to_today = ratio_if_any(field, "to_as_it_is");
  made.predicted = ratio_if_any(field, "predicted");
  made.figures = numbers_in(field.at("figures"));
  if (const auto others = field.find("others")) {
    for (const json_field& each : others->elements()) {
      made.others.emplace_back(each.at("figure").text(), each.at("median").number());
    }
  }
  made.interval = interval_of(made.figures);
  return made;
}

/// Without bandwidths of the machine, times of the model are relative.
bool has_seconds(const shown_tune& of, const machine& on) {
  if (of.figure != "predicted time") {
    return of.figure == "wall time" || of.figure == "time between marks";
  }
  try {
    return model::costs_of(on).absolute;
  } catch (const error&) {
    return false; // a machine that cannot be priced
  }
}

std::optional<std::size_t> position_in(const json_field& document, std::string_view key,
                                       std::size_t settings) {
  const auto found = document.find(key);
  return found ? std::optional<std::size_t>(found->whole_number(0, settings - 1)) : std::nullopt;
}

} // namespace

std::vector<std::size_t> shown_tune::in_order() const {
  std::vector<std::size_t> order(settings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) {
    const shown_setting& of = settings[i];
    const double median = of.median.value_or(0);
    return std::tuple(!of.median || of.state == setting_state::disqualified,
                      higher_is_better ? -median : median, i);
  });
  return order;
}

shown_tune tune_in(const json_field& document, const machine& on) {
  const json_field candidates = document.at("candidates");
  shown_tune made;
  made.command = command_in(document.at("command"));
  made.figure = document.at("figure").text();
  if (const auto where = document.find("on")) {
    made.on = where->text();
  }
  if (const auto phase = document.find("phase")) {
    made.phase = phase->text();
  }
  made.higher_is_better = document.at("higher_is_better").truth();
  made.verdict = static_cast<tune_verdict>(document.at("verdict").one_of(tune_verdicts));
  made.line = document.at("line").text();
  for (const json_field& each : candidates.elements()) {
    made.settings.push_back(setting_in(each));
  }
  if (made.settings.empty()) {
    candidates.refuse("there is no setting", "write one entry for each setting");
  }
  made.as_it_is = candidates.elements().front().at("options").elements().empty();
  made.chosen = document.at("chosen").whole_number(0, made.settings.size() - 1);
  made.leader = position_in(document, "leader", made.settings.size());
  made.cheapest = position_in(document, "cheapest", made.settings.size());
  made.gain = ratio_if_any(document, "gain");
  if (const auto p = document.find("p")) {
    made.p = amount_in(*p);
  }
  made.runs = document.at("runs").whole_number();
  made.seconds = amount_in(document.at("seconds"));
  if (const auto remarks = document.find("remarks")) {
    made.remarks = texts_in(*remarks);
  }
  made.unit = has_seconds(made, on) ? " s" : "";
  return made;
}

} // namespace nodewise::cli
