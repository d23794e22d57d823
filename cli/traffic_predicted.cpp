// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/traffic_predicted.hpp"

#include <nlohmann/json.hpp>

#include "cli/model_traffic.hpp"
#include "cli/model_view.hpp"
#include "cli/traffic_view.hpp"
#include "model/predict.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"

namespace nodewise::cli {

namespace {

using report::align;
using report::tone;

struct timed_part {
  predicted_part told;
  double seconds; ///< set even if only ratios are meaningful
};

std::optional<timed_part> predict_part(const traffic::counts& of, const traffic_choice& which,
                                       const model::machine_costs& on) {
  try {
    const priced_traffic what = price_of_counts(of, which, on);
    const model::prediction found = model::price(on, what.what);
    const auto others = model::alternatives(on, what.what);
    timed_part made{{}, found.seconds};
    made.told.region = which.region.value_or("");
    made.told.when = which.when.value_or(traffic::phase::use);
    if (on.absolute) {
      made.told.seconds = found.seconds;
    }
    if (!others.empty() && others.front().seconds > 0) {
      made.told.ratio = found.seconds / others.front().seconds;
    }
    made.told.waits_for = found.loads.empty() ? "-" : load_name(found.loads.front(), on);
    return made;
  } catch (const error&) {
    return std::nullopt;
  }
}

std::vector<timed_part> timed_parts(const traffic::counts& of, traffic::phase judged,
                                    const machine& machine) {
  std::vector<timed_part> parts;
  try {
    const model::machine_costs on = model::costs_of(machine);
    std::vector<traffic_choice> choices;
    for (const std::string& name : region_names(of)) {
      choices.push_back({.when = {}, .region = name});
    }
    if (choices.empty()) {
      choices.push_back({.when = judged, .region = {}});
    }
    for (const traffic_choice& which : choices) {
      if (auto part = predict_part(of, which, on)) {
        parts.push_back(*std::move(part));
      }
    }
  } catch (const error&) {
    parts.clear(); // invalid figures: `nodewise model` reports them
  }
  return parts;
}

std::string ratio_text(const predicted_part& part) {
  return part.ratio ? short_number(*part.ratio) + " x" : "-";
}

} // namespace

std::vector<predicted_part> predict_parts(const traffic::counts& of, traffic::phase judged,
                                          const machine& on) {
  std::vector<timed_part> parts = timed_parts(of, judged, on);
  double sum = 0;
  for (const timed_part& each : parts) {
    sum += each.seconds;
  }
  std::vector<predicted_part> told;
  for (timed_part& each : parts) {
    each.told.share = sum > 0 ? each.seconds / sum : 0;
    told.push_back(std::move(each.told));
  }
  return told;
}

std::string predicted_text(const std::vector<predicted_part>& parts, const report::style& how) {
  if (parts.empty()) {
    return {};
  }
  const predicted_part& first = parts.front();
  if (first.region.empty()) {
    const std::string time = first.seconds ? format_seconds(*first.seconds) + ", " : "";
    return "\n" + report::paint(how, tone::strong, "Predicted time") + " of " +
           phase_name(first.when) + " by the model, not measured\n  " + time +
           (first.ratio ? short_number(*first.ratio) + " times the best placement; "
                        : std::string{}) +
           "most waiting for " + first.waits_for + "\n";
  }
  report::table rows({{"region", align::left, true},
                      {first.seconds ? "time" : "share of time", align::right},
                      {"to the best placement", align::right},
                      {"waits for", align::left, true}},
                     2);
  for (const predicted_part& each : parts) {
    rows.add({each.region,
              each.seconds ? format_seconds(*each.seconds) : report::format_percent(each.share),
              ratio_text(each), each.waits_for});
  }
  return "\n" + report::paint(how, tone::strong, "Predicted time by region") +
         ", by the model, not measured\n" + rows.to_string(how);
}

nlohmann::ordered_json predicted_json(const std::vector<predicted_part>& parts) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const predicted_part& each : parts) {
    nlohmann::ordered_json one;
    if (each.region.empty()) {
      one["phase"] = traffic::to_string(each.when);
    } else {
      one["region"] = each.region;
    }
    one["seconds"] = report::or_unavailable(each.seconds);
    one["share"] = each.share;
    one["ratio_to_best"] = report::or_unavailable(each.ratio);
    one["waits_for"] = each.waits_for;
    all.push_back(std::move(one));
  }
  return all;
}

} // namespace nodewise::cli
