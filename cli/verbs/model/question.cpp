// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Restates the question to the model.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/traffic/view.hpp"
#include "cli/verbs/model/view.hpp"
#include "report/envelope.hpp"

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;

std::string machine_name(const machine& on) {
  return printable(!on.name.empty() ? on.name : on.title.empty() ? "this machine" : on.title);
}

std::string threads_line(const loop_description& asked, const machine& on, const placed_loop& loop,
                         std::string_view swept) {
  const std::string name = machine_name(on);
  if (swept == "threads") {
    return fmt::format("on {}: threads bound {}", name, to_string(asked.bind));
  }
  return fmt::format("on {}: {} bound {} on node{} {}", name,
                     counted(loop.what.threads(), "thread"), to_string(asked.bind),
                     loop.nodes.size() == 1 ? "" : "s", loop.nodes.to_string());
}

std::string arrays_line(const loop_description& asked) {
  const std::size_t bytes = asked.elements * asked.element_bytes;
  return fmt::format("{} of {}, {}{}{}{}", counted(asked.arrays.size(), "array"),
                     counted(asked.elements, "element"), report::format_bytes(bytes),
                     asked.arrays.size() == 1 ? "" : " each",
                     asked.form == model::shape::triangular ? ", packed triangles" : "",
                     asked.random_access ? ", in random order" : "");
}

/// "dynamic,16"; only "dynamic" if chunks are swept.
std::string schedule_text(const loop_description& asked, std::string_view swept) {
  const std::string text = asked.schedule_text();
  return swept == "chunk" ? text.substr(0, text.find(',')) : text;
}

std::string placement_line(const loop_description& asked, std::string_view swept) {
  const std::string memory = swept == "memory" ? ""
                                               : fmt::format("memory {}{}; ", asked.memory,
                                                             asked.stagger ? ", staggered" : "");
  return fmt::format("{}schedule {}", memory, schedule_text(asked, swept));
}

ordered_json array_json(const model::array_use& of) {
  return {{"read", of.read}, {"written", of.written}, {"streaming", of.streaming}};
}

std::string phase_text(const traffic_choice& which) {
  if (which.region) {
    return "region " + *which.region;
  }
  return std::string(which.when ? traffic::phase_name(*which.when) : "initialisation and use");
}

} // namespace

model_question question_of(const loop_description& asked, const machine& on,
                           const placed_loop& loop, std::string_view swept) {
  model_question made;
  made.title =
      fmt::format("{}{}{}", asked.kernel, asked.formula.empty() ? "" : ": ", asked.formula);
  made.lines = {threads_line(asked, on, loop, swept), arrays_line(asked),
                placement_line(asked, swept)};
  ordered_json json = {{"kind", "loop"},
                       {"kernel", asked.kernel},
                       {"arrays", report::json_list(asked.arrays, array_json)},
                       {"elements", asked.elements},
                       {"element_bytes", asked.element_bytes},
                       {"threads", loop.what.threads()},
                       {"nodes", loop.nodes.to_string()},
                       {"bind", to_string(asked.bind)},
                       {"memory", asked.memory},
                       {"stagger", asked.stagger},
                       {"page_bytes", asked.page_bytes},
                       {"schedule", schedule_text(asked, swept)},
                       {"shape", asked.form == model::shape::triangular ? "triangular" : "flat"},
                       {"random", asked.random_access},
                       {"chunk_start_seconds", loop.what.chunk_start_s}};
  if (swept == "threads") {
    json.erase("threads");
    json.erase("nodes");
  } else if (swept == "memory") {
    json.erase("memory");
  }
  made.json = std::make_shared<const ordered_json>(std::move(json));
  return made;
}

model_question question_of(std::string_view file, const traffic_choice& which, const machine& on,
                           const priced_traffic& what, model::work how) {
  model_question made;
  made.title = fmt::format("the traffic of {}", file);
  const bool pooled = how == model::work::pooled;
  made.lines = {fmt::format("on {}: {}, each a thread", machine_name(on),
                            counted(what.what.threads.size(), "processor")),
                fmt::format("{}; {} between processors and memories", phase_text(which),
                            report::format_bytes(
                                static_cast<unsigned long long>(model::total_bytes(what.what)))),
                pooled ? "threads share a pool of work" : "each thread keeps its own work"};
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
