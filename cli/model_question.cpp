// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Restates the question to the model.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/printable.hpp"

#include "cli/model_view.hpp"

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;

std::string machine_name(const machine& on) {
  return printable(!on.name.empty() ? on.name : on.title.empty() ? "this machine" : on.title);
}

std::string threads_line(const loop_description& asked, const machine& on, const placed_loop& loop,
                         std::string_view swept) {
  const std::string bind = asked.bind == bind_policy::close ? "close" : "spread";
  if (swept == "threads") {
    return "on " + machine_name(on) + ": threads bound " + bind;
  }
  return "on " + machine_name(on) + ": " + counted(loop.what.threads(), "thread") + " bound " +
         bind + " on node" + (loop.nodes.size() == 1 ? " " : "s ") + loop.nodes.to_string();
}

std::string arrays_line(const loop_description& asked) {
  const std::size_t bytes = asked.elements * asked.element_bytes;
  return counted(asked.arrays.size(), "array") + " of " + counted(asked.elements, "element") +
         ", " + report::format_bytes(bytes) + (asked.arrays.size() == 1 ? "" : " each") +
         (asked.form == model::shape::triangular ? ", packed triangles" : "") +
         (asked.random_access ? ", in no order" : "");
}

std::string placement_line(const loop_description& asked, std::string_view swept) {
  std::string text;
  if (swept != "memory") {
    text = "memory " + asked.memory + (asked.stagger ? ", staggered" : "") + "; ";
  }
  const std::string schedule = asked.schedule_text();
  return text + "schedule " +
         (swept == "chunk" ? schedule.substr(0, schedule.find(',')) : schedule);
}

ordered_json arrays_json(const loop_description& asked) {
  ordered_json all = ordered_json::array();
  for (const model::array_use& each : asked.arrays) {
    all.push_back({{"read", each.read}, {"written", each.written}, {"streaming", each.streaming}});
  }
  return all;
}

std::string phase_text(const traffic_choice& which) {
  if (which.region) {
    return "region " + *which.region;
  }
  if (!which.when) {
    return "initialisation and use";
  }
  return *which.when == traffic::phase::use ? "use" : "initialisation";
}

} // namespace

model_question question_of(const loop_description& asked, const machine& on,
                           const placed_loop& loop, std::string_view swept) {
  model_question made;
  made.title = asked.kernel + (asked.formula.empty() ? "" : ": " + asked.formula);
  made.lines = {threads_line(asked, on, loop, swept), arrays_line(asked),
                placement_line(asked, swept)};
  ordered_json json = {{"kind", "loop"},
                       {"kernel", asked.kernel},
                       {"arrays", arrays_json(asked)},
                       {"elements", asked.elements},
                       {"element_bytes", asked.element_bytes},
                       {"threads", loop.what.threads()},
                       {"nodes", loop.nodes.to_string()},
                       {"bind", to_string(asked.bind)},
                       {"memory", asked.memory},
                       {"stagger", asked.stagger},
                       {"page_bytes", asked.page_bytes},
                       {"schedule", asked.schedule_text()},
                       {"shape", asked.form == model::shape::triangular ? "triangular" : "flat"},
                       {"random", asked.random_access},
                       {"chunk_start_seconds", loop.what.chunk_start_s}};
  if (swept == "threads") {
    json.erase("threads");
    json.erase("nodes");
  } else if (swept == "memory") {
    json.erase("memory");
  } else if (swept == "chunk") {
    const std::string schedule = asked.schedule_text();
    json["schedule"] = schedule.substr(0, schedule.find(','));
  }
  made.json = std::make_shared<const ordered_json>(std::move(json));
  return made;
}

model_question question_of(std::string_view file, const traffic_choice& which, const machine& on,
                           const priced_traffic& what, model::work how) {
  model_question made;
  made.title = "the traffic of " + std::string(file);
  const bool pooled = how == model::work::pooled;
  made.lines = {
      "on " + machine_name(on) + ": " + counted(what.what.threads.size(), "processor") +
          ", each a thread",
      phase_text(which) + "; " +
          report::format_bytes(static_cast<unsigned long long>(model::total_bytes(what.what))) +
          " between processors and memories",
      pooled ? "threads share a pool of work" : "each thread has the work it had"};
  ordered_json json = {{"kind", "traffic"}, {"file", file}};
  if (which.region) {
    json["region"] = *which.region;
  } else {
    json["phase"] = which.when ? traffic::to_string(*which.when) : "all";
  }
  json["threads"] = what.what.threads.size();
  json["work"] = pooled ? "pooled" : "fixed";
  json["lines"] = what.lines;
  json["unknown_lines"] = what.unknown;
  json["dirty_lines"] = what.dirty;
  made.json = std::make_shared<const ordered_json>(std::move(json));
  return made;
}

} // namespace nodewise::cli
