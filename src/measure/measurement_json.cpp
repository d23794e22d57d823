// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/measurement_json.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace nodewise::measure {

namespace {

using nlohmann::ordered_json;

ordered_json node_json(node_id node) {
  return node == unknown_node ? ordered_json("any") : ordered_json(to_int(node));
}

ordered_json or_unavailable(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json("unavailable");
}

ordered_json figure_json(const estimate& of) {
  return {{"median", of.median},         {"low", of.low}, {"high", of.high},
          {"confidence", of.confidence}, {"p25", of.p25}, {"p75", of.p75},
          {"two_humped", of.two_humped}};
}

ordered_json record_json(const record& of) {
  ordered_json one = {{"experiment", to_string(of.of)},
                      {"label", of.label},
                      {"unit", of.unit},
                      {"from", node_json(of.from)},
                      {"to", node_json(of.to)},
                      {"threads", of.threads},
                      {"bytes", of.bytes}};
  if (!of.kernel.empty()) {
    one["kernel"] = of.kernel;
    one["moved_per_counted"] = of.moved_per_counted;
  }
  if (!of.is_known()) {
    one["unavailable"] = of.found.unavailable;
    one["wrong"] = of.found.wrong;
    return one;
  }
  one.update(figure_json(of.found.figure()));
  one["samples"] = of.found.samples;
  if (!of.found.visits.empty()) {
    one["visits"] = of.found.visits;
  }
  if (!of.found.beside.empty()) {
    one["beside_gb_per_s"] = of.found.beside;
  }
  one["on_node"] = or_unavailable(of.found.on_node);
  one["in_huge_pages"] = or_unavailable(of.found.in_huge_pages);
  const auto& disturbed = of.found.disturbed;
  one["stolen"] = or_unavailable(disturbed ? std::optional(disturbed->stolen) : std::nullopt);
  one["others"] = or_unavailable(disturbed ? std::optional(disturbed->others) : std::nullopt);
  one["elsewhere"] = or_unavailable(disturbed ? std::optional(disturbed->elsewhere) : std::nullopt);
  one["frequency_mhz"] = or_unavailable(of.found.frequency_mhz);
  return one;
}

node_id read_node(const json_field& field) {
  if (field.is_text() && field.text() == "any") {
    return unknown_node;
  }
  return node_id{field.small_number(0, (1 << 20) - 1)};
}

double read_amount(const json_field& field) {
  const double value = field.number();
  if (!(value >= 0) || value > 1e30) {
    field.refuse(fmt::format("{} is below 0 or above 1e30", value), "write 0 or more");
  }
  return value;
}

std::vector<double> read_amounts(const std::optional<json_field>& field) {
  std::vector<double> all;
  if (field) {
    for (const json_field& each : field->elements()) {
      all.push_back(read_amount(each));
    }
  }
  return all;
}

std::optional<double> read_if_known(const json_field& of, std::string_view name) {
  const auto field = of.find(name);
  if (!field || (field->is_text() && field->text() == "unavailable")) {
    return std::nullopt;
  }
  return read_amount(*field);
}

/// Empty if the file lacks the field, as older files do.
std::vector<std::size_t> read_visits(const std::optional<json_field>& field, std::size_t samples) {
  std::vector<std::size_t> all;
  std::size_t sum = 0;
  if (!field) {
    return all;
  }
  for (const json_field& each : field->elements()) {
    all.push_back(each.whole_number(1, std::max<std::size_t>(samples, 1)));
    sum += all.back();
    if (sum > samples) {
      each.refuse("the visits have more samples than the figure",
                  "write the number of samples of each visit");
    }
  }
  if (sum != samples) {
    field->refuse(fmt::format("the visits have {} samples, the figure {}", sum, samples),
                  "write the number of samples of each visit");
  }
  return all;
}

std::string read_text_if(const json_field& of, std::string_view name) {
  const auto field = of.find(name);
  return field ? field->text() : std::string{};
}

record read_record(const json_field& of) {
  record made;
  const json_field name = of.at("experiment");
  const auto experiment = parse_experiment(name.text());
  if (!experiment) {
    name.refuse(fmt::format("there is no experiment '{}'", name.text()),
                "write bandwidth, latency, contention, ...");
  }
  made.of = *experiment;
  made.label = of.at("label").text();
  constexpr std::array<std::string_view, 2> units = {"GB/s", "ns"};
  made.unit = units[of.at("unit").one_of(units)];
  made.from = read_node(of.at("from"));
  made.to = read_node(of.at("to"));
  made.threads = of.at("threads").whole_number();
  made.bytes = of.at("bytes").whole_number();
  made.kernel = read_text_if(of, "kernel");
  made.moved_per_counted = read_if_known(of, "moved_per_counted").value_or(0);
  made.found.samples = read_amounts(of.find("samples"));
  made.found.visits = read_visits(of.find("visits"), made.found.samples.size());
  made.found.beside = read_amounts(of.find("beside_gb_per_s"));
  made.found.on_node = read_if_known(of, "on_node");
  made.found.in_huge_pages = read_if_known(of, "in_huge_pages");
  made.found.frequency_mhz = read_if_known(of, "frequency_mhz");
  const auto stolen = read_if_known(of, "stolen");
  const auto others = read_if_known(of, "others");
  if (stolen && others) {
    made.found.disturbed =
        disturbance{*stolen, *others, read_if_known(of, "elsewhere").value_or(0)};
  }
  if (!made.is_known()) {
    made.found.unavailable = of.at("unavailable").text();
    const auto wrong = of.find("wrong");
    made.found.wrong = wrong && wrong->truth();
  }
  return made;
}

} // namespace

void write_measurement(const measurement& what, ordered_json& into) {
  into["set"] = what.set;
  into["host"] = what.host;
  into["date"] = what.date;
  into["instruction_set"] = what.instruction_set;
  if (!what.workgroups.empty()) {
    into["workgroups"] = what.workgroups;
  }
  into["planned"] = what.planned;
  into["stopped"] = what.stopped;
  into["points"] = ordered_json::array();
  for (const record& each : what.records) {
    into["points"].push_back(record_json(each));
  }
}

measurement read_measurement(const json_field& document) {
  check_schema(document, measurement_schema);
  measurement made;
  made.set = document.at("set").text();
  made.host = document.at("host").text();
  made.date = document.at("date").text();
  made.instruction_set = document.at("instruction_set").text();
  made.planned = document.at("planned").whole_number();
  if (const auto groups = document.find("workgroups")) {
    for (const json_field& each : groups->elements()) {
      made.workgroups.push_back(each.text());
    }
  }
  const auto stopped = document.find("stopped");
  made.stopped = stopped && stopped->truth();
  for (const json_field& each : document.at("points").elements()) {
    made.records.push_back(read_record(each));
  }
  return made;
}

} // namespace nodewise::measure
