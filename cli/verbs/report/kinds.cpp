// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/kinds.hpp"

#include <array>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;

struct kind_of_result {
  std::string_view schema; ///< without its version
  void (*add)(const json_field& document, report_page& into);
};

constexpr std::array kinds = {kind_of_result{"nodewise/profile/", add_profile},
                              kind_of_result{"nodewise/run/", add_run},
                              kind_of_result{"nodewise/machine/", add_machine},
                              kind_of_result{"nodewise/topology/", add_machine},
                              kind_of_result{"nodewise/measurement/", add_measurement},
                              kind_of_result{"nodewise/traffic/", add_counted_traffic},
                              kind_of_result{"nodewise/tune/", add_tune},
                              kind_of_result{"nodewise/prediction/", add_prediction},
                              kind_of_result{"nodewise/doctor/", add_examination},
                              kind_of_result{"nodewise/pages/", add_pages},
                              kind_of_result{"nodewise/comparison/", add_comparison}};

/// In the order of `html::cell_kind`.
constexpr std::array kind_words = {"text", "number", "code"};

ordered_json axis_json(const drawing::chart_axis& of) {
  // "bandwidth (GB/s)": the unit is in brackets.
  const std::size_t open = of.title.rfind(" (");
  const bool has_unit = open != std::string::npos && of.title.ends_with(')');
  return {{"label", printable(of.title.substr(0, has_unit ? open : of.title.size()))},
          {"unit", has_unit ? of.title.substr(open + 2, of.title.size() - open - 3) : ""}};
}

ordered_json chart_json(const drawing::chart& of) {
  ordered_json lines = ordered_json::array();
  for (const drawing::chart_line& line : of.lines) {
    ordered_json points = ordered_json::array();
    for (const drawing::chart_point& each : line.points) {
      points.push_back(each.low && each.high ? ordered_json{each.x, each.y, *each.low, *each.high}
                                             : ordered_json{each.x, each.y});
    }
    lines.push_back({{"name", printable(line.name)}, {"points", std::move(points)}});
  }
  return {{"kind", "lines"},
          {"x", axis_json(of.x)},
          {"y", axis_json(of.y)},
          {"series", std::move(lines)}};
}

} // namespace

report_page::report_page()
    : data(std::make_shared<ordered_json>(ordered_json{{"schema", "nodewise/report-data/1"},
                                                       {"tables", ordered_json::object()},
                                                       {"charts", ordered_json::object()},
                                                       {"strips", ordered_json::object()}})) {}

html::section& report_page::add_section(std::string_view name, std::string_view title) {
  return shown.sections.emplace_back(id(name), std::string(title));
}

void report_page::add_figure(html::section& to, std::string_view name, drawing::picture what,
                             std::string_view caption, const html::table& numbers,
                             const drawing::chart* chart) {
  if (chart != nullptr) {
    (*data)["charts"][id(name)] = chart_json(*chart);
  }
  to.figure(what, caption, numbers, chart != nullptr ? id(name) : "");
  pictures.emplace_back(id(name), std::move(what));
}

std::string report_page::add_table(std::string_view name, const html::table& what) {
  ordered_json columns = ordered_json::array();
  for (const html::column& each : what.columns) {
    columns.push_back({{"title", printable(each.title)},
                       {"kind", kind_words.at(static_cast<std::size_t>(each.kind))}});
  }
  ordered_json rows = ordered_json::array();
  for (const auto& row : what.rows) {
    auto& cells = rows.emplace_back(ordered_json::array());
    for (const std::string& cell : row) {
      cells.push_back(printable(cell));
    }
  }
  std::string made = id(name);
  (*data)["tables"][made] = {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
  return made;
}

void report_page::set_verdict(std::string sentence,
                              std::vector<std::pair<std::string, std::string>> facts) {
  if (shown.verdict.empty()) {
    shown.verdict = std::move(sentence);
    shown.facts = std::move(facts);
    return;
  }
  html::section& next = add_section("result", sentence);
  next.facts(facts);
}

void add_result(const json_field& document, const std::string& file, report_page& into) {
  into.file = file;
  const auto schema = document.find("schema");
  const std::string name = schema && schema->is_text() ? schema->text() : "";
  for (const kind_of_result& each : kinds) {
    if (name.starts_with(each.schema)) {
      each.add(document, into);
      return;
    }
  }
  throw error(error_kind::input, "the result " + file,
              name.empty() ? "it names no schema" : fmt::format("nothing is known of {}", name),
              fmt::format("name a file that nodewise wrote: {}",
                          joined(kinds, ", ", [](const kind_of_result& each) {
                            return each.schema.substr(9, each.schema.size() - 10);
                          })));
}

} // namespace nodewise::cli
