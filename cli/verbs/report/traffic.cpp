// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Counted memory traffic: `nodewise run --on lab:NAME --on-counts FILE`.
#include <algorithm>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "cli/verbs/report/node_matrix.hpp"
#include "cli/verbs/report/traffic.hpp"
#include "report/style.hpp"
#include "symbols/names.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using html::cell_kind;

node_matrix lines_between(const json_field& document, std::string_view judged) {
  node_matrix between;
  for (const json_field& cell : document.at("matrix").elements()) {
    const json_field to = cell.at("to");
    const json_field from = cell.at("from");
    if (cell.at("phase").text() == judged && !to.is_text() && !from.is_text()) {
      const double lines = cell.at("fills").number() + cell.at("streams").number();
      if (lines > 0) {
        between[{node_id{from.small_number(0, max_id)}, node_id{to.small_number(0, max_id)}}] +=
            lines;
      }
    }
  }
  return between;
}

/// Arrays or lines, with what they moved in this phase.
html::table moved_table(const json_field& all, std::string_view phase, std::string title,
                        std::string first, bool with_size) {
  html::table made{std::move(title), {{std::move(first), cell_kind::code}}, {}};
  if (with_size) {
    made.columns.push_back({"size", cell_kind::number});
  }
  made.columns.push_back({"local", cell_kind::number});
  made.columns.push_back({"remote lines", cell_kind::number});
  made.columns.push_back({"lines", cell_kind::number});
  for (const json_field& each : all.elements()) {
    const moved_lines moved = moved_lines_in(each.at(phase));
    if (moved.all == 0) {
      continue;
    }
    auto& row = made.rows.emplace_back(std::vector{symbols::abbreviated(each.at("name").text())});
    if (with_size) {
      row.push_back(report::format_bytes(each.at("bytes").whole_number()));
    }
    row.push_back(report::format_percent(moved.local_share, "unavailable"));
    row.push_back(fmt::format("{}", moved.remote));
    row.push_back(fmt::format("{}", moved.all));
  }
  return made;
}

/// "2.3 ms (predicted); threads wait most for memory of node 0".
std::vector<std::string> predictions_of(const json_field& document) {
  std::vector<std::string> made;
  const auto predicted = document.find("predicted");
  if (!predicted) {
    return made;
  }
  for (const json_field& each : predicted->elements()) {
    const auto region = each.find("region");
    const json_field seconds = each.at("seconds");
    std::string text =
        fmt::format("{}: {}", region ? region->text() : each.at("phase").text(),
                    seconds.is_text() ? "no time, because the machine's file has no bandwidths"
                                      : fmt::format("{:.3g} s", seconds.number()));
    if (const auto ratio = each.find("ratio_to_best"); ratio && !ratio->is_text()) {
      text += fmt::format("; {:.2f} times the best placement", ratio->number());
    }
    if (const auto waits = each.find("waits_for"); waits && !waits->text().empty()) {
      text += "; threads wait most for " + waits->text();
    }
    made.push_back(std::move(text));
  }
  return made;
}

void add_moved(const json_field& document, std::string_view judged, report_page& into) {
  const html::table arrays =
      moved_table(document.at("sites"), judged, "Arrays, most remote lines first", "array", true);
  html::section& made = into.add_section("arrays", "Arrays");
  made.long_table(into.add_table("arrays", arrays), arrays);
  const html::table lines = moved_table(document.at("lines"), judged,
                                        "Source lines, most remote lines first", "line", false);
  html::section& code = into.add_section("lines", "Source lines");
  code.long_table(into.add_table("lines", lines), lines);
}

constexpr std::array<std::string_view, 2> phases_in_files = {"init", "use"};

} // namespace

moved_lines moved_lines_in(const json_field& phase) {
  const json_field share = phase.at("local");
  const std::uint64_t remote = phase.at("remote_lines").whole_number();
  return {remote,
          remote + phase.at("local_lines").whole_number() +
              phase.at("unknown_lines").whole_number(),
          share.is_text() ? std::nullopt : std::optional(share.number())};
}

std::string judged_phase_in(const json_field& document) {
  return std::string(phases_in_files.at(document.at("judged_by").one_of(phases_in_files)));
}

std::string_view phase_words(std::string_view judged) {
  return judged == "use" ? "after initialisation" : "in initialisation";
}

std::string counted_programs_in(const json_field& document) {
  std::vector<std::string> names;
  for (const json_field& each : document.at("programs").elements()) {
    if (std::string name = each.at("name").text(); !name.empty()) {
      names.push_back(std::move(name));
    }
  }
  return names.empty() ? "unknown" : joined(names, ", ");
}

void add_counted_traffic(const json_field& document, report_page& into) {
  check_schema(document, traffic_schema);
  const topology on(machine_from_json(document.at("machine")));
  const std::string judged = judged_phase_in(document);
  const std::string_view phase = phase_words(judged);
  const auto local = moved_lines_in(document.at(judged)).local_share;
  into.set_verdict(
      local ? fmt::format("{} of the counted memory traffic {} is local.",
                          report::format_percent(*local), phase)
            : fmt::format("No memory traffic was counted {}.", phase),
      {{"program", counted_programs_in(document)}, {"machine", machine_name_of(on.machine())}});
  add_machine_section(on, {}, into);
  add_matrix_section(
      lines_between(document, judged),
      fmt::format("Counted cache lines {}. What is on the diagonal is local; lighter is more.",
                  phase),
      into);
  add_moved(document, judged, into);
  html::section& rest = into.add_section("evidence", "Predicted, and not counted");
  rest.list(predictions_of(document));
  std::vector<std::string> not_counted = texts_in(document.at("not_counted"));
  for (std::string& each : not_counted) {
    each = "not counted: " + each;
  }
  rest.list(not_counted);
  rest.remark("Times are predictions of a model from exact counts; nothing was timed.");
}

} // namespace nodewise::cli
