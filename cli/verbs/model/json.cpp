// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/model/view.hpp"

#include <array>

#include <nlohmann/json.hpp>

#include "report/envelope.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using model::machine_costs;
using nlohmann::ordered_json;

constexpr const char* unavailable = "unavailable";

/// Seconds and bytes/s are meaningful only if a bandwidth is known.
ordered_json absolute(const machine_costs& on, double value) {
  return on.absolute ? ordered_json(value) : ordered_json(unavailable);
}

ordered_json capacity(const machine_costs& on, const model::resource_load& load) {
  if (load.kind == model::resource_kind::thread || !on.absolute) {
    return unavailable;
  }
  return load.bytes_per_s / 1e9;
}

std::string_view kind_of(const model::resource_load& load, const machine_costs& on) {
  switch (load.kind) {
  case model::resource_kind::memory:
    return "memory";
  case model::resource_kind::link:
    return on.links[load.at].is_path ? "path" : "link";
  case model::resource_kind::core:
    return "cores";
  case model::resource_kind::thread:
    break;
  }
  return "thread";
}

ordered_json load_json(const model::resource_load& load, const machine_costs& on) {
  ordered_json one = {{"kind", kind_of(load, on)}};
  if (load.kind == model::resource_kind::link) {
    // As in parameters: processors of `from` read from the memory of `to`.
    one["from"] = to_int(on.nodes[on.links[load.at].to]);
    one["to"] = to_int(on.nodes[on.links[load.at].from]);
  } else if (load.kind != model::resource_kind::thread) {
    one["node"] = to_int(on.nodes[load.at]);
  }
  one["gb_per_s"] = capacity(on, load);
  one["busy"] = load.busy;
  one["bound"] = load.bound;
  return one;
}

/// A reading or an alternative.
ordered_json timed_json(const char* key, std::string_view name, double seconds,
                        const model_answer& answer, const machine_costs& on) {
  return {{key, name},
          {"seconds", absolute(on, seconds)},
          {"ratio_to_told", seconds / answer.result.seconds}};
}

ordered_json sensitivity_json(const model::sensitivity& of) {
  return {{"what", model::to_string(of.what)},
          {"origin", model::to_string(of.from)},
          {"source", of.source},
          {"less", of.less},
          {"more", of.more}};
}

std::string_view unit_of(model::input what) {
  constexpr std::array<std::string_view, 7> units = {"GB/s", "ratio", "GB/s", "ratio",
                                                     "GB/s", "ns",    "lines"};
  return units[static_cast<std::size_t>(what)];
}

/// The value in the units of a machine file.
ordered_json value_json(const used_figure& each, const machine_costs& on) {
  const std::string_view unit = unit_of(each.what);
  if (each.is.value == model::unlimited) {
    return "unlimited";
  }
  if (unit == "ns") {
    return each.is.value * 1e9;
  }
  return unit == "GB/s" ? absolute(on, each.is.value / 1e9) : ordered_json(each.is.value);
}

ordered_json input_json(const used_figure& of, const machine_costs& on) {
  return {{"what", model::to_string(of.what)},
          {"of", of.of},
          {"value", value_json(of, on)},
          {"unit", unit_of(of.what)},
          {"origin", model::to_string(of.is.from)},
          {"source", of.is.source}};
}

} // namespace

ordered_json model_json(const model_question& asked, const machine& of, const machine_costs& on,
                        model::hypothesis limit) {
  // The prediction is for a machine and does not depend on this system's settings.
  ordered_json result = report::envelope("prediction", 1, machine_json(of), ordered_json::object());
  result["question"] = *asked.json;
  result["limit"] = limit == model::hypothesis::memory ? "memory" : "processors";
  result["inputs"] = report::json_list(
      used_figures(on), [&](const used_figure& each) { return input_json(each, on); });
  return result;
}

ordered_json answer_json(const model_answer& answer, const machine_costs& on) {
  ordered_json made = {{"seconds", absolute(on, answer.result.seconds)}};
  if (answer.useful_bytes) {
    made["gb_per_s"] = absolute(on, *answer.useful_bytes / answer.result.seconds / 1e9);
    made["useful_bytes"] = *answer.useful_bytes;
  }
  made["moved_gb_per_s"] = absolute(on, answer.result.bytes_per_s() / 1e9);
  made["bytes"] = answer.result.bytes;
  made["reading"] = model::to_string(answer.by);
  made["readings"] = report::json_list(answer.readings, [&](const read_seconds& each) {
    return timed_json("reading", model::to_string(each.by), each.seconds, answer, on);
  });
  made["ratio_to_best"] = report::or_unavailable(answer.ratio());
  made["alternatives"] = report::json_list(answer.alternatives, [&](const auto& each) {
    return timed_json("name", each.name, each.seconds, answer, on);
  });
  made["loads"] = report::json_list(
      answer.result.loads, [&](const model::resource_load& load) { return load_json(load, on); });
  made["sensitivities"] = report::json_list(answer.sensitivities, sensitivity_json);
  made["remarks"] = answer.remarks;
  return made;
}

ordered_json points_json(const std::vector<answered_point>& points, const machine_costs& on) {
  return report::json_list(points, [&](const answered_point& each) -> ordered_json {
    return {{"value", each.value}, {"predicted", answer_json(each.answer, on)}};
  });
}

} // namespace nodewise::cli
