// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/model_view.hpp"

#include "report/envelope.hpp"
#include "topology/machine_json.hpp"
#include <nlohmann/json.hpp>

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

ordered_json readings_json(const model_answer& answer, const machine_costs& on) {
  ordered_json all = ordered_json::array();
  for (const read_seconds& each : answer.readings) {
    all.push_back({{"reading", model::to_string(each.by)},
                   {"seconds", absolute(on, each.seconds)},
                   {"ratio_to_told", each.seconds / answer.told.seconds}});
  }
  return all;
}

ordered_json alternatives_json(const model_answer& answer, const machine_costs& on) {
  ordered_json all = ordered_json::array();
  for (const model::alternative& each : answer.alternatives) {
    all.push_back({{"name", each.name},
                   {"seconds", absolute(on, each.seconds)},
                   {"ratio_to_told", each.seconds / answer.told.seconds}});
  }
  return all;
}

ordered_json sensitivities_json(const model_answer& answer) {
  ordered_json all = ordered_json::array();
  for (const model::sensitivity& each : answer.sensitivities) {
    all.push_back({{"what", model::to_string(each.what)},
                   {"origin", model::to_string(each.from)},
                   {"source", each.source},
                   {"less", each.less},
                   {"more", each.more}});
  }
  return all;
}

/// The value in the units of a machine file.
ordered_json value_json(const used_figure& each, const machine_costs& on) {
  const bool is_bandwidth = each.what == model::input::memory || each.what == model::input::core ||
                            each.what == model::input::links;
  if (each.is.value == model::unlimited) {
    return "unlimited";
  }
  if (each.what == model::input::local_latency) {
    return each.is.value * 1e9;
  }
  return is_bandwidth ? absolute(on, each.is.value / 1e9) : ordered_json(each.is.value);
}

std::string_view unit_of(model::input what) {
  switch (what) {
  case model::input::memory:
  case model::input::core:
  case model::input::links:
    return "GB/s";
  case model::input::local_latency:
    return "ns";
  case model::input::lines_in_flight:
    return "lines";
  case model::input::shared_efficiency:
  case model::input::latency:
    break;
  }
  return "ratio";
}

ordered_json inputs_json(const machine_costs& on) {
  ordered_json all = ordered_json::array();
  for (const used_figure& each : used_figures(on)) {
    all.push_back({{"what", model::to_string(each.what)},
                   {"of", each.of},
                   {"value", value_json(each, on)},
                   {"unit", unit_of(each.what)},
                   {"origin", model::to_string(each.is.from)},
                   {"source", each.is.source}});
  }
  return all;
}

} // namespace

ordered_json model_json(const model_question& asked, const machine& of, const machine_costs& on,
                        model::hypothesis limit) {
  // The prediction is for a machine and does not depend on this system's settings.
  ordered_json result = report::envelope("prediction", 1, machine_json(of), ordered_json::object());
  result["question"] = *asked.json;
  result["limit"] = limit == model::hypothesis::memory ? "memory" : "processors";
  result["inputs"] = inputs_json(on);
  return result;
}

ordered_json answer_json(const model_answer& answer, const machine_costs& on) {
  ordered_json made = {{"seconds", absolute(on, answer.told.seconds)}};
  if (answer.useful_bytes) {
    made["gb_per_s"] = absolute(on, *answer.useful_bytes / answer.told.seconds / 1e9);
    made["useful_bytes"] = *answer.useful_bytes;
  }
  made["moved_gb_per_s"] = absolute(on, answer.told.bytes_per_s() / 1e9);
  made["bytes"] = answer.told.bytes;
  made["reading"] = model::to_string(answer.by);
  made["readings"] = readings_json(answer, on);
  made["ratio_to_best"] = report::or_unavailable(answer.ratio());
  made["alternatives"] = alternatives_json(answer, on);
  ordered_json loads = ordered_json::array();
  for (const model::resource_load& load : answer.told.loads) {
    loads.push_back(load_json(load, on));
  }
  made["loads"] = std::move(loads);
  made["sensitivities"] = sensitivities_json(answer);
  made["remarks"] = answer.remarks;
  return made;
}

ordered_json points_json(const std::vector<answered_point>& points, const machine_costs& on) {
  ordered_json all = ordered_json::array();
  for (const answered_point& each : points) {
    all.push_back({{"value", each.value}, {"predicted", answer_json(each.answer, on)}});
  }
  return all;
}

} // namespace nodewise::cli
