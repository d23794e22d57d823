// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/report/profile.hpp"
#include "drawing/heat_map.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

namespace {

using html::cell_kind;

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
                         "",
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
      values.emplace_back(found == between.end() ? 0 : found->second / all * 100);
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

struct line_use {
  double amount = 0;
  std::map<std::string, double> arrays;
};

/// By program and line.
std::map<std::pair<std::size_t, std::string>, line_use> lines_of(const profile_parts& of) {
  std::map<std::pair<std::size_t, std::string>, line_use> all;
  for (const shown_array& array : of.arrays) {
    for (const std::size_t object : array.objects) {
      for (const profile::using_code& each :
           of.what.programs[array.program].objects[object].used_at) {
        line_use& line = all[{array.program, profile::label_of(each.where)}];
        line.amount += each.amount;
        line.arrays[array.name] += each.amount;
      }
    }
  }
  return all;
}

} // namespace

void add_traffic(const profile_parts& of, report_page& into) {
  if (of.between.empty()) {
    return;
  }
  std::set<node_id> from;
  std::set<node_id> to;
  for (const auto& [nodes, amount] : of.between) {
    from.insert(nodes.first);
    to.insert(nodes.second);
  }
  html::section& made = into.add_section("traffic", "Traffic between nodes");
  const drawing::heat_map map = map_of(of.between, from, to);
  drawing::picture drawn;
  const drawing::area size = draw(drawn.content, {8, 8}, map);
  drawn.title = "Traffic between nodes";
  drawn.description = "A row for the node of the threads, a column for the node of the memory.";
  drawn.width = size.right() + 8;
  drawn.height = size.bottom() + 8;
  made.figure(drawn,
              fmt::format("From {}, in the phase after initialisation. What is on the diagonal is "
                          "local.",
                          of.is_counted() ? "counted cache lines" : "sampled accesses"),
              numbers_of(map));
}

void add_lines(const profile_parts& of, report_page& into) {
  const auto all = lines_of(of);
  if (all.empty()) {
    return;
  }
  double sum = 0;
  for (const auto& [line, use] : all) {
    sum += use.amount;
  }
  std::vector<std::pair<double, std::vector<std::string>>> rows;
  for (const auto& [line, use] : all) {
    const auto most =
        std::ranges::max_element(use.arrays, {}, [](const auto& each) { return each.second; });
    rows.emplace_back(use.amount, std::vector{line.second, report::format_percent(use.amount / sum),
                                              most->first, of.what.programs[line.first].name});
  }
  std::ranges::sort(rows, [](const auto& a, const auto& b) {
    return std::tuple(-a.first, a.second) < std::tuple(-b.first, b.second);
  });
  html::table made{"Code that uses memory most",
                   {{"line", cell_kind::code},
                    {"share of the traffic seen at lines", cell_kind::number},
                    {"array that it uses most"},
                    {"program"}},
                   {}};
  for (auto& [amount, row] : rows) {
    made.rows.push_back(std::move(row));
  }
  html::section& section = into.add_section("lines", "Source lines");
  section.long_table(into.add_table("lines", made), made);
}

} // namespace nodewise::cli
