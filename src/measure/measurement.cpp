// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/measurement.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <nodewise/version.hpp>

#include "topology/measured_machine.hpp"

namespace nodewise::measure {

namespace {

using nlohmann::ordered_json;

/// Fills in a record's kernel, and how much more memory moves than it counts.
void describe_kernels(std::span<const stream_group> groups, record& into) {
  double counted = 0;
  double moved = 0;
  for (const stream_group& each : groups) {
    const bool is_another = !into.kernel.empty() && into.kernel != each.does->name;
    into.kernel = is_another ? "several" : each.does->name;
    // Groups run at their own speed: each is weighted by the bytes of one sweep.
    const double share = static_cast<double>(each.bytes) / each.does->arrays;
    counted += share * static_cast<double>(each.does->counted_bytes());
    moved += share * static_cast<double>(each.does->moved_bytes());
  }
  into.moved_per_counted = counted > 0 ? moved / counted : 0;
}

/// The figure's name among the machine's parameters; empty if it is none of them.
std::string_view parameter_name(const record& of) {
  const bool is_of_core = of.threads == 1 && of.from == of.to && of.from != unknown_node;
  return of.of == experiment::scaling && !is_of_core ? "" : about(of.of).parameter;
}

ordered_json node_json(node_id node) {
  return node == unknown_node ? ordered_json("any") : ordered_json(to_int(node));
}

ordered_json or_unavailable(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json("unavailable");
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
  const estimate figure = of.found.figure();
  one.update({{"median", figure.median},
              {"low", figure.low},
              {"high", figure.high},
              {"confidence", figure.confidence},
              {"p25", figure.p25},
              {"p75", figure.p75},
              {"two_humped", figure.two_humped}});
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

/// The elements of a list; none if the file lacks it, as older files do.
std::vector<json_field> elements_if(const json_field& of, std::string_view name) {
  const auto field = of.find(name);
  return field ? field->elements() : std::vector<json_field>{};
}

std::vector<double> read_amounts(const json_field& of, std::string_view name) {
  std::vector<double> all;
  std::ranges::transform(elements_if(of, name), std::back_inserter(all), read_amount);
  return all;
}

std::optional<double> read_if_known(const json_field& of, std::string_view name) {
  const auto field = of.find(name);
  if (!field || (field->is_text() && field->text() == "unavailable")) {
    return std::nullopt;
  }
  return read_amount(*field);
}

std::vector<std::size_t> read_visits(const json_field& of, std::size_t samples) {
  constexpr const char* hint = "write the number of samples of each visit";
  std::vector<std::size_t> all;
  std::size_t sum = 0;
  for (const json_field& each : elements_if(of, "visits")) {
    all.push_back(each.whole_number(1, std::max<std::size_t>(samples, 1)));
    sum += all.back();
    if (sum > samples) {
      each.refuse("the visits have more samples than the figure", hint);
    }
  }
  if (const auto field = of.find("visits"); field && sum != samples) {
    field->refuse(fmt::format("the visits have {} samples, the figure {}", sum, samples), hint);
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
  made.found.samples = read_amounts(of, "samples");
  made.found.visits = read_visits(of, made.found.samples.size());
  made.found.beside = read_amounts(of, "beside_gb_per_s");
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

const record* measurement::find(experiment of, std::string_view label) const noexcept {
  const auto found = std::ranges::find_if(
      records, [&](const record& each) { return each.of == of && each.label == label; });
  return found == records.end() ? nullptr : &*found;
}

std::vector<const record*> measurement::all(experiment of) const {
  std::vector<const record*> found;
  for (const record& each : records) {
    if (each.of == of) {
      found.push_back(&each);
    }
  }
  return found;
}

record record_of(const point& what, outcome found) {
  const point_needs needs = needs_of(what.work);
  record made{.of = what.of,
              .label = what.label,
              .unit = std::string(unit_of(what)),
              .from = what.from,
              .to = what.to,
              .kernel = {},
              .threads = needs.threads.size(),
              .bytes = needs.bytes,
              .found = std::move(found)};
  if (const auto* const streams = std::get_if<stream_work>(&what.work)) {
    describe_kernels(streams->groups, made);
  }
  return made;
}

std::vector<parameter> parameters_of(const measurement& all) {
  const std::string source = "measured " + all.date + " by nodewise " NODEWISE_VERSION;
  std::vector<parameter> found;
  for (const record& each : all.records) {
    const std::string_view name = parameter_name(each);
    if (!name.empty() && each.is_known()) {
      // The bandwidth that all processors together get from a memory belongs to that memory.
      const node_id from = each.of == experiment::contention ? each.to : each.from;
      found.push_back({std::string(name), from, each.to, each.found.figure().median, each.unit,
                       each.found.was_disturbed() ? source + measured::disturbed_mark : source});
    }
  }
  return found;
}

machine with_parameters(machine of, std::vector<parameter> found) {
  std::erase_if(of.parameters, [&](const parameter& old) {
    return std::ranges::any_of(found, [&](const parameter& now) {
      return now.name == old.name && now.from == old.from && now.to == old.to;
    });
  });
  of.parameters.insert(of.parameters.end(), std::move_iterator(found.begin()),
                       std::move_iterator(found.end()));
  return of;
}

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
  for (const json_field& each : elements_if(document, "workgroups")) {
    made.workgroups.push_back(each.text());
  }
  const auto stopped = document.find("stopped");
  made.stopped = stopped && stopped->truth();
  for (const json_field& each : document.at("points").elements()) {
    made.records.push_back(read_record(each));
  }
  return made;
}

} // namespace nodewise::measure
