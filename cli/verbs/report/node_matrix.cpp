// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/node_matrix.hpp"

#include <cmath>
#include <set>

#include <fmt/core.h>

#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "drawing/heat_map.hpp"

namespace nodewise::cli {

namespace {

using html::cell_kind;

/// Digits beyond say nothing, and would not fit into a field.
double in_tenths(double percent) {
  constexpr double tenths = 10;
  return std::round(percent * tenths) / tenths;
}

std::vector<std::string> texts_of(const std::set<node_id>& nodes) {
  std::vector<std::string> made;
  for (const node_id each : nodes) {
    made.push_back(fmt::format("{}", each));
  }
  return made;
}

/// In percent of all traffic. A pair without traffic is 0: it was observed.
drawing::heat_map map_of(const node_matrix& between, const std::set<node_id>& from,
                         const std::set<node_id>& to) {
  double all = 0;
  for (const auto& [nodes, amount] : between) {
    all += amount;
  }
  drawing::heat_map made{"share of the traffic (%)",
                         "a row for threads on a node, a column for the memory of a node; what is "
                         "not on the diagonal is remote",
                         "threads on node",
                         "memory of node",
                         texts_of(from),
                         texts_of(to),
                         {},
                         "%",
                         true};
  for (const node_id row : from) {
    auto& values = made.values.emplace_back();
    for (const node_id column : to) {
      const auto found = between.find({row, column});
      values.emplace_back(found == between.end() ? 0 : in_tenths(found->second / all * 100));
    }
  }
  return made;
}

html::table numbers_of(const drawing::heat_map& of) {
  html::table made{"Share of the traffic in percent", {{"threads on node", cell_kind::number}}, {}};
  for (const std::string& each : of.columns) {
    made.columns.push_back({"memory of node " + each, cell_kind::number});
  }
  for (std::size_t row = 0; row < of.rows.size(); ++row) {
    auto& cells = made.rows.emplace_back(std::vector{of.rows[row]});
    for (const auto& value : of.values[row]) {
      cells.push_back(value ? drawing::figure_text(*value) : "unavailable");
    }
  }
  return made;
}

} // namespace

void add_matrix_section(const node_matrix& between, std::string_view caption, report_page& into) {
  if (between.empty()) {
    return;
  }
  std::set<node_id> from;
  std::set<node_id> to;
  for (const auto& [nodes, amount] : between) {
    from.insert(nodes.first);
    to.insert(nodes.second);
  }
  html::section& made = into.add_section("traffic", "Traffic between nodes");
  const drawing::heat_map map = map_of(between, from, to);
  into.add_figure(
      made, "traffic",
      pictured("Traffic between nodes",
               "A row for the node of the threads, a column for the node of the memory.", map),
      caption, numbers_of(map));
}

} // namespace nodewise::cli
