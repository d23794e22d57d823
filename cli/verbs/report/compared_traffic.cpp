// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What changed between two files of counted traffic.
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "cli/verbs/report/traffic.hpp"
#include "report/style.hpp"
#include "symbols/names.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using html::cell_kind;

struct counted_lines {
  std::uint64_t remote = 0;
  std::uint64_t all = 0;
};

struct counted_sides {
  std::string name;
  std::optional<counted_lines> before; ///< nullopt: it moved nothing, or is absent
  std::optional<counted_lines> after;
};

/// By name: arrays that one line allocates are one.
std::map<std::string, counted_lines> lines_by_name(const json_field& document,
                                                   const std::string& list) {
  const std::string judged = judged_phase_in(document);
  std::map<std::string, counted_lines> made;
  for (const json_field& each : document.at(list).elements()) {
    const moved_lines moved = moved_lines_in(each.at(judged));
    if (moved.all > 0) {
      counted_lines& sum = made[each.at("name").text()];
      sum.remote += moved.remote;
      sum.all += moved.all;
    }
  }
  return made;
}

/// Those with most remote lines before or after first.
std::vector<counted_sides> sides_of(const json_field& before, const json_field& after,
                                    const std::string& list) {
  std::map<std::string, counted_sides> by_name;
  for (const auto& [name, lines] : lines_by_name(before, list)) {
    by_name[name].before = lines;
  }
  for (const auto& [name, lines] : lines_by_name(after, list)) {
    by_name[name].after = lines;
  }
  std::vector<counted_sides> made;
  for (auto& [name, each] : by_name) {
    each.name = name;
    made.push_back(std::move(each));
  }
  const auto remote = [](const std::optional<counted_lines>& side) {
    return side ? side->remote : 0;
  };
  std::ranges::sort(made, {}, [&](const counted_sides& each) {
    return std::pair(~std::max(remote(each.before), remote(each.after)), each.name);
  });
  return made;
}

std::string share_cell(const std::optional<counted_lines>& side) {
  return side ? report::format_percent(static_cast<double>(side->remote) /
                                       static_cast<double>(side->all))
              : "nothing moved";
}

std::string remote_cell(const std::optional<counted_lines>& side) {
  return fmt::format("{}", side ? side->remote : 0);
}

html::table table_of_sides(const std::vector<counted_sides>& all, std::string first) {
  html::table made{fmt::format("Counted cache lines of each {}, most remote lines first", first),
                   {{std::move(first), cell_kind::code},
                    {"remote before", cell_kind::number},
                    {"remote after", cell_kind::number},
                    {"remote lines before", cell_kind::number},
                    {"remote lines after", cell_kind::number}},
                   {}};
  for (const counted_sides& each : all) {
    made.rows.push_back({symbols::abbreviated(each.name), share_cell(each.before),
                         share_cell(each.after), remote_cell(each.before),
                         remote_cell(each.after)});
  }
  return made;
}

std::string local_words(const json_field& document) {
  return report::format_percent(moved_lines_in(document.at(judged_phase_in(document))).local_share,
                                "an unknown share");
}

std::string traffic_words(const result_file& file) {
  const topology on(machine_from_json(file.root.at("machine")));
  return fmt::format("{}: {} on {}, counted {}", file.name, counted_programs_in(file.root),
                     machine_name_of(on.machine()), phase_words(judged_phase_in(file.root)));
}

} // namespace

void compare_counted_traffic(const result_file& before, const result_file& after,
                             report_page& into) {
  check_schema(before.root, traffic_schema);
  check_schema(after.root, traffic_schema);
  into.set_verdict(
      fmt::format("Of the counted memory traffic, {} was local before, and {} is local "
                  "after.",
                  local_words(before.root), local_words(after.root)),
      {{"before", traffic_words(before)}, {"after", traffic_words(after)}});
  for (const auto& [list, id, one, title] :
       {std::tuple("sites", "arrays", "array", "Arrays"),
        std::tuple("lines", "lines", "line", "Source lines")}) {
    const html::table rows = table_of_sides(sides_of(before.root, after.root, list), one);
    into.add_section(id, title).long_table(into.add_table(id, rows), rows);
  }
}

} // namespace nodewise::cli
