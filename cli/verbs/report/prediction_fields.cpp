// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/prediction.hpp"
#include "drawing/heat_map.hpp"

namespace nodewise::cli {

namespace {

using drawing::figure_text;

std::optional<double> known_if_any(const json_field& of, std::string_view key) {
  const auto found = of.find(key);
  return found ? known_amount_in(*found) : std::nullopt;
}

std::vector<predicted_time> times_in(const json_field& list, std::string_view name) {
  std::vector<predicted_time> all;
  for (const json_field& each : list.elements()) {
    all.push_back({each.at(name).text(), known_amount_in(each.at("seconds")),
                   amount_in(each.at("ratio_to_asked"))});
  }
  return all;
}

std::string load_name_in(const json_field& load) {
  const std::string kind = load.at("kind").text();
  const auto node = [&](std::string_view key) { return load.at(key).small_number(0, max_id); };
  if (kind == "link" || kind == "path") {
    return fmt::format("{} {}:{}", kind, node("from"), node("to"));
  }
  return load.find("node") ? fmt::format("{} of node {}", kind, node("node")) : kind;
}

std::vector<predicted_load> loads_in(const json_field& list) {
  std::vector<predicted_load> all;
  for (const json_field& each : list.elements()) {
    all.push_back({load_name_in(each), known_amount_in(each.at("gb_per_s")),
                   amount_in(each.at("busy")), amount_in(each.at("bound"))});
  }
  return all;
}

std::vector<predicted_change> changes_in(const json_field& list) {
  std::vector<predicted_change> all;
  for (const json_field& each : list.elements()) {
    all.push_back({each.at("what").text(), each.at("source").text(), each.at("less").number(),
                   each.at("more").number()});
  }
  return all;
}

predicted_answer answer_in(const json_field& field) {
  return {.seconds = known_amount_in(field.at("seconds")),
          .gb_per_s = known_if_any(field, "gb_per_s"),
          .moved_gb_per_s = known_amount_in(field.at("moved_gb_per_s")),
          .bytes = amount_in(field.at("bytes")),
          .reading = field.at("reading").text(),
          .readings = times_in(field.at("readings"), "reading"),
          .placements = times_in(field.at("alternatives"), "name"),
          .to_best = known_amount_in(field.at("ratio_to_best")),
          .loads = loads_in(field.at("loads")),
          .changes = changes_in(field.at("sensitivities")),
          .remarks = texts_in(field.at("remarks"))};
}

std::vector<predicted_input> inputs_in(const json_field& list) {
  std::vector<predicted_input> all;
  for (const json_field& each : list.elements()) {
    const json_field value = each.at("value");
    all.push_back({each.at("what").text(), each.at("of").text(),
                   value.is_text()
                       ? value.text()
                       : fmt::format("{} {}", figure_text(value.number()), each.at("unit").text()),
                   each.at("origin").text(), each.at("source").text()});
  }
  return all;
}

void read_loop_question(const json_field& question, shown_prediction& into) {
  into.question = question.at("kernel").text();
  if (const auto threads = question.find("threads")) {
    into.question += " on " + counted(threads->whole_number(1), "thread");
  }
  if (const auto memory = question.find("memory")) {
    into.question += ", memory " + memory->text();
  }
  into.facts = {{"threads bound", question.at("bind").text()},
                {"schedule", question.at("schedule").text()},
                {"arrays", fmt::format("{} of {} elements, {} bytes each",
                                       question.at("arrays").elements().size(),
                                       question.at("elements").whole_number(),
                                       question.at("element_bytes").whole_number())}};
  if (const auto nodes = question.find("nodes")) {
    into.facts.emplace_back("nodes", nodes->text());
  }
}

void read_traffic_question(const json_field& question, shown_prediction& into) {
  const auto region = question.find("region");
  into.question =
      fmt::format("the counted traffic of {}",
                  region ? "region " + region->text() : "phase " + question.at("phase").text());
  into.facts = {{"traffic", question.at("file").text()},
                {"threads", fmt::format("{}", question.at("threads").whole_number())},
                {"work", question.at("work").text()},
                {"lines", fmt::format("{:.0f} priced", amount_in(question.at("lines")))},
                {"lines left out", fmt::format("{:.0f}: their processor or memory is unknown",
                                               amount_in(question.at("unknown_lines")))}};
}

} // namespace

shown_prediction prediction_in(const json_field& document) {
  shown_prediction made;
  const json_field question = document.at("question");
  constexpr std::array<std::string_view, 2> question_kinds = {"loop", "traffic"};
  if (question.at("kind").one_of(question_kinds) == 0) {
    read_loop_question(question, made);
  } else {
    read_traffic_question(question, made);
  }
  made.facts.emplace_back("limit of the machine", document.at("limit").text());
  if (const auto swept = document.find("swept")) {
    made.swept = swept->text();
    const json_field points = document.at("points");
    for (const json_field& each : points.elements()) {
      made.answers.emplace_back(each.at("value").text(), answer_in(each.at("predicted")));
    }
    if (made.answers.empty()) {
      points.refuse("there is no point", "write one entry for each value");
    }
  } else {
    made.answers.emplace_back("", answer_in(document.at("predicted")));
  }
  made.inputs = inputs_in(document.at("inputs"));
  return made;
}

} // namespace nodewise::cli
