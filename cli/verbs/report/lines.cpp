// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/report/profile.hpp"
#include "profile/places.hpp"
#include "report/style.hpp"
#include "symbols/names.hpp"

namespace nodewise::cli {

namespace {

using html::cell_kind;

struct line_use {
  double amount = 0;
  std::map<std::string, double> arrays;
};

/// By program and line.
std::map<std::pair<std::size_t, std::string>, line_use> lines_of(const profile_parts& of) {
  std::map<std::pair<std::size_t, std::string>, line_use> all;
  for (const shown_array& array : of.arrays) {
    for (const std::size_t object : array.objects) {
      const profile::object& what = of.what.programs[array.program].objects[object];
      for (const profile::using_code& each : what.used_at) {
        line_use& line = all[{array.program, profile::label_of(each.where)}];
        line.amount += each.amount * profile::moved_per_use(what);
        line.arrays[array.name] += each.amount * profile::moved_per_use(what);
      }
    }
  }
  return all;
}

} // namespace

void add_traffic(const profile_parts& of, report_page& into) {
  add_matrix_section(of.between,
                     fmt::format("From {}, in the phase after initialisation. What is on the "
                                 "diagonal is local; lighter is more.",
                                 of.is_counted() ? "counted cache lines" : "sampled accesses"),
                     into);
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
    rows.emplace_back(use.amount, std::vector{symbols::abbreviated(line.second),
                                              report::format_percent(use.amount / sum),
                                              symbols::abbreviated(most->first),
                                              of.what.programs[line.first].name});
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
