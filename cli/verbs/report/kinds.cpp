// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/kinds.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;

struct kind_of_result {
  std::string_view schema; ///< without its version
  void (*add)(const json_field& document, report_page& into);
  void (*compare)(const result_file& before, const result_file& after, report_page& into) = nullptr;
};

constexpr std::array kinds = {
    kind_of_result{"nodewise/profile/", add_profile, compare_profiles},
    kind_of_result{"nodewise/run/", add_run},
    kind_of_result{"nodewise/machine/", add_machine},
    kind_of_result{"nodewise/topology/", add_machine},
    kind_of_result{"nodewise/measurement/", add_measurement, compare_measurements},
    kind_of_result{"nodewise/traffic/", add_counted_traffic, compare_counted_traffic},
    kind_of_result{"nodewise/tune/", add_tune},
    kind_of_result{"nodewise/prediction/", add_prediction},
    kind_of_result{"nodewise/doctor/", add_examination},
    kind_of_result{"nodewise/pages/", add_pages},
    kind_of_result{"nodewise/survey/", add_survey},
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
  html::section& made = shown.sections.emplace_back(id(name), std::string(title));
  made.set_source(source);
  return made;
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

std::string report_page::id(std::string_view name) const {
  return fmt::format("{}{}{}", prefix, name, suffix);
}

html::section& report_page::set_verdict(std::string sentence,
                                        std::vector<std::pair<std::string, std::string>> facts) {
  if (shown.verdict.empty()) {
    shown.verdict = std::move(sentence);
    shown.facts = std::move(facts);
    return shown.summary;
  }
  html::section& next = add_section("result", "In short");
  next.paragraph(sentence);
  next.facts(facts);
  return next;
}

namespace {

std::string schema_of(const result_file& file) {
  const auto schema = file.root.find("schema");
  return schema && schema->is_text() ? schema->text() : "";
}

/// The result of a cluster as those of its hosts.
std::vector<result_file> by_host(const std::vector<result_file>& files) {
  std::vector<result_file> all;
  for (const result_file& each : files) {
    if (!schema_of(each).starts_with("nodewise/cluster-traffic/")) {
      all.push_back(each);
      continue;
    }
    check_schema(each.root, "nodewise/cluster-traffic/1");
    for (const json_field& host : each.root.at("hosts").elements()) {
      all.push_back({fmt::format("{}, {}", each.name, printable(host.at("host").text())),
                     host.at("traffic")});
    }
  }
  return all;
}

const kind_of_result& kind_of(const result_file& file) {
  const std::string name = schema_of(file);
  const auto found = std::ranges::find_if(
      kinds, [&](const kind_of_result& each) { return name.starts_with(each.schema); });
  if (found != kinds.end()) {
    return *found;
  }
  throw error(error_kind::input, "the result " + file.name,
              name.empty() ? "it names no schema" : fmt::format("nothing is known of {}", name),
              fmt::format("name a file that nodewise wrote: {}",
                          joined(kinds, ", ", [](const kind_of_result& each) {
                            return each.schema.substr(9, each.schema.size() - 10);
                          })));
}

} // namespace

void add_results(const std::vector<result_file>& given, report_page& into) {
  const std::vector<result_file> files = by_host(given);
  std::map<std::string_view, std::vector<const result_file*>> by_schema;
  for (const result_file& each : files) {
    by_schema[kind_of(each).schema].push_back(&each);
  }
  into.prefix = "comparison-";
  for (const kind_of_result& kind : kinds) {
    if (const auto& same = by_schema[kind.schema];
        kind.compare != nullptr && same.size() == 2 && files.size() == given.size()) {
      kind.compare(*same[0], *same[1], into);
    }
  }
  into.prefix.clear();
  for (std::size_t i = 0; i < files.size(); ++i) {
    into.suffix = i == 0 ? "" : fmt::format("-{}", i + 1);
    into.file = files[i].name;
    into.source = files.size() > 1 ? files[i].name : "";
    kind_of(files[i]).add(files[i].root, into);
  }
}

} // namespace nodewise::cli
