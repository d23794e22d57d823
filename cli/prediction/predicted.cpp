// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/prediction/predicted.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/prediction/counted.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"

namespace nodewise::cli {

namespace {

/// `share` is the time: in seconds if a bandwidth of the machine is known.
std::optional<predicted_part> predict_part(const traffic::counts& of, const traffic_choice& which,
                                           const model::machine_costs& on) {
  try {
    const priced_traffic what = price_of_counts(of, which, on);
    const model::prediction found = model::price(on, what.what);
    const auto others = model::alternatives(on, what.what);
    predicted_part made{.region = which.region.value_or(""),
                        .when = which.when.value_or(traffic::phase::use),
                        .share = found.seconds,
                        .ratio = model::ratio_to_best(found, others),
                        .waits_for =
                            found.loads.empty() ? "-" : load_name(found.loads.front(), on)};
    if (on.absolute) {
      made.seconds = found.seconds;
    }
    return made;
  } catch (const error&) {
    return std::nullopt;
  }
}

} // namespace

std::string short_number(double value) {
  return fmt::format("{:.{}f}", value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

std::string format_seconds(double seconds) {
  if (seconds >= 1) {
    return short_number(seconds) + " s";
  }
  if (seconds >= 1e-3) {
    return short_number(seconds * 1e3) + " ms";
  }
  return seconds >= 1e-6 ? short_number(seconds * 1e6) + " us"
                         : short_number(seconds * 1e9) + " ns";
}

std::string format_bandwidth(double bytes_per_s) {
  return short_number(bytes_per_s / 1e9) + " GB/s";
}

std::string load_name(const model::resource_load& load, const model::machine_costs& on) {
  switch (load.kind) {
  case model::resource_kind::memory:
    return fmt::format("memory of node {}", on.nodes[load.at]);
  case model::resource_kind::link:
    // As in parameters: processors of the first node read from the memory of the second.
    return fmt::format("{} {}:{}", on.links[load.at].is_path ? "path" : "link",
                       on.nodes[on.links[load.at].to], on.nodes[on.links[load.at].from]);
  case model::resource_kind::core:
    return fmt::format("cores of node {}", on.nodes[load.at]);
  case model::resource_kind::thread:
    break;
  }
  return "its own limit";
}

std::vector<predicted_part> predict_parts(const traffic::counts& of, traffic::phase judged,
                                          const machine& on) {
  std::vector<predicted_part> parts;
  try {
    const model::machine_costs costs = model::costs_of(on);
    std::vector<traffic_choice> choices;
    for (const std::string& name : region_names(of)) {
      choices.push_back({.region = name});
    }
    if (choices.empty()) {
      choices.push_back({.when = judged});
    }
    for (const traffic_choice& which : choices) {
      if (auto part = predict_part(of, which, costs)) {
        parts.push_back(*std::move(part));
      }
    }
  } catch (const error&) {
    return {}; // invalid figures: `nodewise model` reports them
  }
  double sum = 0;
  for (const predicted_part& each : parts) {
    sum += each.share;
  }
  for (predicted_part& each : parts) {
    each.share = sum > 0 ? each.share / sum : 0;
  }
  return parts;
}

std::string predicted_text(const std::vector<predicted_part>& parts, const report::style& how) {
  if (parts.empty()) {
    return {};
  }
  const predicted_part& first = parts.front();
  if (first.region.empty()) {
    return fmt::format(
        "\n{} of {} by the model, not measured\n  {}{}threads wait most for {}\n",
        report::paint(how, report::tone::strong, "Predicted time"), traffic::phase_name(first.when),
        first.seconds ? format_seconds(*first.seconds) + ", " : "",
        first.ratio ? short_number(*first.ratio) + " times the best placement; " : "",
        first.waits_for);
  }
  using report::breaking;
  using report::right;
  report::table rows({breaking("region"), right(first.seconds ? "time" : "share of time"),
                      right("to the best placement"), breaking("waits for")},
                     2);
  for (const predicted_part& each : parts) {
    rows.add({each.region,
              each.seconds ? format_seconds(*each.seconds) : report::format_percent(each.share),
              each.ratio ? short_number(*each.ratio) + " x" : "-", each.waits_for});
  }
  return fmt::format("\n{}, by the model, not measured\n{}",
                     report::paint(how, report::tone::strong, "Predicted time by region"),
                     rows.to_string(how));
}

nlohmann::ordered_json predicted_json(const std::vector<predicted_part>& parts) {
  return report::json_list(parts, [](const predicted_part& each) {
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
    return one;
  });
}

} // namespace nodewise::cli
