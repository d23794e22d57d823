// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/log_json.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include <nodewise/version.hpp>

namespace nodewise::tune {

namespace {

using log_json = nlohmann::ordered_json;

/// In the order of `phase`.
constexpr std::array<std::string_view, 3> phase_names = {"warm-up", "race", "confirmation"};

/// JSON has no infinity.
double finite(double seconds) {
  return std::isfinite(seconds) ? seconds : 0;
}

log_json setting_json(const setting& of) {
  return {{"options", of.options}, {"cores", of.cores}};
}

log_json race_json(const race_options& of) {
  log_json made{{"seed", of.seed},
                {"warm_ups", of.warm_ups},
                {"warm_up_counts", of.warm_up_counts},
                {"most_runs", of.most_runs},
                {"most_runs_of_all", of.most_runs_of_all},
                {"error", of.error},
                {"equal", of.equal},
                {"higher_is_better", of.higher_is_better}};
  if (std::isfinite(of.most_spread)) {
    made["most_spread"] = of.most_spread;
  }
  if (!of.predicted.empty()) {
    made["predicted"] = of.predicted;
  }
  if (!of.pinned.empty()) {
    made["pinned"] = of.pinned;
  }
  return made;
}

log_json figure_json(const figure_source& of) {
  log_json made = log_json::object();
  if (of.pattern) {
    made["pattern"] = *of.pattern;
  }
  if (of.file) {
    made["file"] = *of.file;
  }
  if (of.modelled) {
    made["modelled"] = *of.modelled;
  }
  if (of.marked) {
    made["marked"] = *of.marked;
  }
  made["higher_is_better"] = of.higher_is_better;
  return made;
}

std::vector<std::string> read_words(const json_field& list) {
  std::vector<std::string> words;
  for (const json_field& each : list.elements()) {
    words.push_back(each.text());
  }
  return words;
}

std::size_t read_count(const json_field& field) {
  return field.whole_number();
}

std::vector<setting> read_settings(const json_field& list) {
  std::vector<setting> all;
  for (const json_field& each : list.elements()) {
    each.allow_only({"options", "cores"});
    all.push_back({read_words(each.at("options")), read_count(each.at("cores"))});
  }
  if (all.empty()) {
    list.refuse("there is no candidate", "begin another log");
  }
  return all;
}

std::size_t read_candidate(const json_field& field, std::size_t candidates) {
  return field.whole_number(0, candidates - 1);
}

race_options read_race(const json_field& field, std::size_t candidates) {
  field.allow_only({"seed", "warm_ups", "warm_up_counts", "most_runs", "most_runs_of_all", "error",
                    "equal", "higher_is_better", "most_spread", "predicted", "pinned"});
  race_options made;
  made.candidates = candidates;
  made.seed = field.at("seed").whole_number(0, std::numeric_limits<std::uint64_t>::max());
  made.warm_ups = read_count(field.at("warm_ups"));
  if (const auto counts = field.find("warm_up_counts")) {
    made.warm_up_counts = counts->truth();
  }
  made.most_runs = read_count(field.at("most_runs"));
  made.most_runs_of_all = read_count(field.at("most_runs_of_all"));
  made.error = field.at("error").number();
  made.equal = field.at("equal").number();
  made.higher_is_better = field.at("higher_is_better").truth();
  if (const auto spread = field.find("most_spread")) {
    made.most_spread = spread->number();
  }
  if (const auto predicted = field.find("predicted")) {
    for (const json_field& each : predicted->elements()) {
      made.predicted.push_back(each.number());
    }
  }
  if (const auto pinned = field.find("pinned")) {
    for (const json_field& each : pinned->elements()) {
      made.pinned.push_back(read_candidate(each, candidates));
    }
  }
  try {
    const race possible(made); // checks the ranges
  } catch (const error& e) {
    field.refuse(e.answered(), e.hint());
  }
  return made;
}

figure_source read_figure(const json_field& field) {
  field.allow_only({"pattern", "file", "modelled", "marked", "higher_is_better"});
  figure_source made;
  if (const auto pattern = field.find("pattern")) {
    made.pattern = pattern->text();
  }
  if (const auto file = field.find("file")) {
    made.file = file->text();
  }
  if (const auto modelled = field.find("modelled")) {
    made.modelled = modelled->text();
  }
  if (const auto marked = field.find("marked")) {
    made.marked = marked->text();
  }
  made.higher_is_better = field.at("higher_is_better").truth();
  return made;
}

double read_seconds(const json_field& field) {
  const double seconds = field.number();
  if (seconds < 0) {
    field.refuse("it is negative", "write seconds");
  }
  return seconds;
}

logged_run read_run(const json_field& field, std::size_t candidates) {
  field.allow_only({"candidate", "block", "phase", "figure", "wall_s", "user_s", "system_s",
                    "others", "output"});
  logged_run made;
  made.run.candidate = read_candidate(field.at("candidate"), candidates);
  made.run.block = read_count(field.at("block"));
  made.run.in = static_cast<phase>(field.at("phase").one_of(phase_names));
  const json_field figure = field.at("figure");
  made.figure = figure.number();
  if (made.figure <= 0) {
    figure.refuse("it is not above 0", "write the figure of the run");
  }
  made.wall_s = read_seconds(field.at("wall_s"));
  made.user_s = read_seconds(field.at("user_s"));
  made.system_s = read_seconds(field.at("system_s"));
  if (const auto others = field.find("others")) {
    for (const json_field& each : others->elements()) {
      made.others.push_back(each.number());
    }
  }
  if (const auto output = field.find("output")) {
    made.output = output->text();
  }
  return made;
}

log_json run_json(const logged_run& of) {
  log_json made{{"candidate", of.run.candidate},
                {"block", of.run.block},
                {"phase", phase_names[static_cast<std::size_t>(of.run.in)]},
                {"figure", of.figure},
                {"wall_s", finite(of.wall_s)},
                {"user_s", finite(of.user_s)},
                {"system_s", finite(of.system_s)}};
  if (!of.others.empty()) {
    made["others"] = of.others;
  }
  if (!of.output.empty()) {
    made["output"] = of.output;
  }
  return made;
}

} // namespace

nlohmann::ordered_json header_json(const log_header& header) {
  log_json made{{"schema", log_schema}, {"nodewise", NODEWISE_VERSION}};
  made["command"] = header.command;
  made["candidates"] = log_json::array();
  for (const setting& each : header.candidates) {
    made["candidates"].push_back(setting_json(each));
  }
  made["race"] = race_json(header.options);
  made["figure"] = figure_json(header.figure);
  made["machine"] = parse_json(header.machine, "the machine of a race's log");
  made["program"] = parse_json(header.program, "the program of a race's log");
  if (header.settings != "null") {
    made["settings"] = parse_json(header.settings, "the settings in a race's log");
  }
  return made;
}

nlohmann::ordered_json event_json(const log_event& event) {
  if (const auto* const run = std::get_if<logged_run>(&event)) {
    return run_json(*run);
  }
  if (const auto* const ahead = std::get_if<logged_forecast>(&event)) {
    return {{"forecast", ahead->candidate},
            {"low", ahead->predicted.low},
            {"likely", ahead->predicted.likely},
            {"high", ahead->predicted.high}};
  }
  const auto& out = std::get<logged_disqualification>(event);
  return {{"disqualified", out.candidate}, {"reason", out.reason}};
}

std::string json_line(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, log_json::error_handler_t::replace) + "\n";
}

log_header header_from_json(const nlohmann::ordered_json& document, const std::string& asked) {
  const json_field all(document, asked);
  check_schema(all, log_schema);
  all.allow_only({"schema", "nodewise", "command", "candidates", "race", "figure", "machine",
                  "program", "settings"});
  log_header made;
  made.command = read_words(all.at("command"));
  made.candidates = read_settings(all.at("candidates"));
  made.options = read_race(all.at("race"), made.candidates.size());
  made.figure = read_figure(all.at("figure"));
  const auto kept = [&](const char* key) {
    (void)all.at(key);
    return document[key].dump();
  };
  made.machine = kept("machine");
  made.program = kept("program");
  if (all.find("settings")) {
    made.settings = kept("settings");
  }
  return made;
}

log_event event_from_json(const json_field& field, std::size_t candidates) {
  if (const auto out = field.find("disqualified")) {
    field.allow_only({"disqualified", "reason"});
    return logged_disqualification{read_candidate(*out, candidates), field.at("reason").text()};
  }
  if (const auto ahead = field.find("forecast")) {
    field.allow_only({"forecast", "low", "likely", "high"});
    return logged_forecast{
        read_candidate(*ahead, candidates),
        {field.at("low").number(), field.at("likely").number(), field.at("high").number()}};
  }
  return read_run(field, candidates);
}

} // namespace nodewise::tune
