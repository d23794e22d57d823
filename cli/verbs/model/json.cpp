// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/verbs/model/flags.hpp"
#include "cli/verbs/model/view.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using model::machine_costs;
using nlohmann::ordered_json;

/// Seconds and bytes/s are meaningful only if a bandwidth is known.
ordered_json absolute(const machine_costs& on, double value) {
  return on.absolute ? ordered_json(value) : ordered_json("unavailable");
}

ordered_json load_json(const model::resource_load& load, const machine_costs& on) {
  constexpr std::array kinds = {"memory", "link", "cores", "thread"};
  ordered_json one = {{"kind", kinds[static_cast<std::size_t>(load.kind)]}};
  const bool is_thread = load.kind == model::resource_kind::thread;
  if (load.kind == model::resource_kind::link) {
    // As in parameters: processors of `from` read from the memory of `to`.
    const model::link& link = on.links[load.at];
    one["kind"] = link.is_path ? "path" : "link";
    one["from"] = to_int(on.nodes[link.to]);
    one["to"] = to_int(on.nodes[link.from]);
  } else if (!is_thread) {
    one["node"] = to_int(on.nodes[load.at]);
  }
  one["gb_per_s"] = is_thread ? ordered_json("unavailable") : absolute(on, load.bytes_per_s / 1e9);
  one["busy"] = load.busy;
  one["bound"] = load.bound;
  return one;
}

/// A reading or an alternative.
ordered_json timed_json(const char* key, std::string_view name, double seconds,
                        const model_answer& answer, const machine_costs& on) {
  return {{key, name},
          {"seconds", absolute(on, seconds)},
          {"ratio_to_asked", seconds / answer.result.seconds}};
}

ordered_json sensitivity_json(const model::sensitivity& of) {
  return {{"what", model::to_string(of.what)},
          {"origin", model::to_string(of.from)},
          {"source", of.source},
          {"less", of.less},
          {"more", of.more}};
}

/// The value in a unit of machine files.
ordered_json value_json(double value, std::string_view unit, const machine_costs& on) {
  if (value == model::unlimited) {
    return "unlimited";
  }
  return unit == "GB/s" ? absolute(on, value / 1e9)
                        : ordered_json(value * (unit == "ns" ? 1e9 : 1));
}

ordered_json input_json(const used_figure& of, const machine_costs& on) {
  constexpr std::array units = {"GB/s", "ratio", "GB/s", "ratio", "GB/s", "ns", "lines"};
  const std::string_view unit = units[static_cast<std::size_t>(of.what)];
  return {{"what", model::to_string(of.what)},          {"of", of.of},
          {"value", value_json(of.is.value, unit, on)}, {"unit", unit},
          {"origin", model::to_string(of.is.from)},     {"source", of.is.source}};
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

} // namespace

std::string model_json(const reported_prediction& what) {
  // The prediction is for a machine and does not depend on this system's settings.
  ordered_json result =
      report::envelope("prediction", 2, machine_json(what.of), ordered_json::object());
  result["question"] = *what.asked.json;
  result["limit"] = what.limit == model::hypothesis::memory ? "memory" : "processors";
  result["inputs"] = report::json_list(
      used_figures(what.on), [&](const used_figure& each) { return input_json(each, what.on); });
  if (what.swept.empty()) {
    result["predicted"] = answer_json(what.points.front().answer, what.on);
  } else {
    result["swept"] = what.swept;
    result["points"] =
        report::json_list(what.points, [&](const answered_point& each) -> ordered_json {
          return {{"value", each.value}, {"predicted", answer_json(each.answer, what.on)}};
        });
  }
  return report::json_text(result);
}

} // namespace nodewise::cli
