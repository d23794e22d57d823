// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/verbs/report/arrays_picture.hpp"
#include "cli/verbs/report/profile.hpp"
#include "drawing/strips.hpp"
#include "report/style.hpp"
#include "symbols/names.hpp"

namespace nodewise::cli {

namespace {

using html::cell_kind;
using nlohmann::ordered_json;

/// Of all strips together: about 1 MB. Those of less used arrays are left out beyond it.
constexpr std::size_t most_runs_kept = 60'000;

/// Of the most used object of the array: where its pages are, who uses them, and where the plan
/// puts them.
drawing::strips strips_with_plan(const shown_array& array, const profile_parts& of) {
  const profile::object& object = most_used(array, of.what);
  drawing::strips made = strips_of(object, of.what.programs[array.program]);
  if (const auto plan = of.planned.find(array.program); plan != of.planned.end()) {
    if (auto strip = plan->second.strip_of(array.name, made.pages, of.what.page_bytes)) {
      made.bands.push_back(std::move(*strip));
      made.bands.push_back(users_of(object, "planned: used on", [&](profile::thread_index by) {
        return std::vector{profile::thread::place{plan->second.node_of(by), 1}};
      }));
    }
  }
  return made;
}

std::string nodes_words(const std::map<node_id, double>& amounts) {
  double all = 0;
  for (const auto& [node, amount] : amounts) {
    all += amount;
  }
  return all > 0
             ? joined(amounts, ", ",
                      [&](const auto& each) {
                        return fmt::format(
                            "{} {}",
                            each.first == unknown_node ? "unknown" : fmt::format("N{}", each.first),
                            report::format_percent(each.second / all));
                      })
             : "unavailable";
}

std::string name_of(const shown_array& what) {
  const std::string name = symbols::abbreviated(what.name);
  return what.objects.size() > 1 ? fmt::format("{} ({} objects)", name, what.objects.size()) : name;
}

/// One row for each array.
html::table table_of(const profile_parts& of, std::span<const shown_array> rows,
                     std::string_view caption) {
  const double used = of.used();
  html::table made{std::string(caption),
                   {{"array"},
                    {"size", cell_kind::number},
                    {"share of the traffic", cell_kind::number},
                    {"remote", cell_kind::number},
                    {"pages on"},
                    {"used by threads on"},
                    {"first touched at", cell_kind::code}},
                   {}};
  for (const shown_array& each : rows) {
    made.rows.push_back({name_of(each), report::format_bytes(each.bytes),
                         used > 0 ? report::format_percent(each.used / used) : "unavailable",
                         report::format_percent(each.remote_share(), "unavailable"),
                         nodes_words(each.pages_on), nodes_words(each.used_by), each.touched_at});
  }
  return made;
}

/// The first ones that have much of the traffic.
std::size_t arrays_to_draw(const profile_parts& of) {
  const double used = of.used();
  std::size_t drawn = 1;
  while (drawn < std::min(most_arrays_drawn, of.arrays.size()) &&
         of.arrays[drawn].used >= used * least_share_drawn) {
    ++drawn;
  }
  return drawn;
}

drawing::picture picture_of(const profile_parts& of) {
  const std::size_t drawn = arrays_to_draw(of);
  std::vector<drawn_array> rows;
  for (const shown_array& each : std::span(of.arrays).first(drawn)) {
    const profile::object& object = most_used(each, of.what);
    const std::string which =
        each.objects.size() > 1 ? fmt::format(": the most used of {}", each.objects.size()) : "";
    rows.push_back(
        {fmt::format("{}{}, {}, {} remote", each.name, which, report::format_bytes(object.bytes),
                     report::format_percent(each.remote_share(), "unknown")),
         {strips_with_plan(each, of)}});
  }
  return picture_of_arrays("Where the pages of the most used arrays are, and who uses them",
                           fmt::format("Strips for each of {} arrays, coloured by node; the table "
                                       "below has the numbers.",
                                       drawn),
                           rows);
}

/// A run belongs to the node with the largest share of it.
ordered_json runs_json(const drawing::strip& of) {
  ordered_json made = ordered_json::array();
  for (const drawing::strip_run& run : of.runs) {
    const auto most =
        std::ranges::max_element(run.shares, {}, [](const auto& each) { return each.second; });
    if (most != run.shares.end()) {
      made.push_back({run.first, run.count, to_int(most->first)});
    }
  }
  return made;
}

/// The strips of the most used arrays, for the script. `kept`: runs so far.
void add_strips(const profile_parts& of, std::span<const shown_array> rows,
                const std::string& table, std::size_t& kept, report_page& into) {
  for (std::size_t row = 0; row < rows.size() && kept < most_runs_kept; ++row) {
    const shown_array& each = rows[row];
    const drawing::strips what = strips_with_plan(each, of);
    ordered_json bands = ordered_json::array();
    for (const drawing::strip& band : what.bands) {
      kept += band.runs.size();
      bands.push_back({{"title", band.title}, {"runs", runs_json(band)}});
    }
    const std::string id = fmt::format("{}-{}", table, row);
    (*into.data)["strips"][id] = {{"title", printable(name_of(each))},
                                  {"pages", what.pages},
                                  {"page_bytes", of.what.page_bytes},
                                  {"bands", std::move(bands)}};
    ordered_json& cell = (*into.data)["tables"][table]["rows"][row][0];
    cell = {{"strip", id}, {"text", cell}};
  }
}

/// How many arrays come before those with hardly any traffic.
std::size_t arrays_with_traffic(const profile_parts& of) {
  constexpr double hardly_any = 0.001; // of the traffic
  constexpr std::size_t worth_folding = 5;
  const double used = of.used();
  const auto rest = std::ranges::find_if(of.arrays, [&](const shown_array& each) {
    return each.used < used * hardly_any; // never if no use was observed
  });
  const auto before = static_cast<std::size_t>(rest - of.arrays.begin());
  return of.arrays.size() - before < worth_folding ? of.arrays.size() : before;
}

/// One table; arrays with hardly any traffic open on demand.
void add_tables(const profile_parts& of, html::section& made, report_page& into) {
  std::size_t kept = 0;
  const auto add = [&](std::string_view name, std::span<const shown_array> rows,
                       std::string_view caption) {
    const html::table shown = table_of(of, rows, caption);
    const std::string id = into.add_table(name, shown);
    add_strips(of, rows, id, kept, into);
    made.long_table(id, shown);
  };
  const std::span<const shown_array> all = of.arrays;
  const std::size_t used = arrays_with_traffic(of);
  add("arrays", all.first(used), "Arrays, most used first");
  if (used < all.size()) {
    const std::string rest = fmt::format("{} with at most 0.1 % of the traffic each",
                                         counted(all.size() - used, "other"));
    made.begin_folded(rest);
    add("small-arrays", all.subspan(used), rest);
    made.end_folded();
  }
}

} // namespace

void add_arrays(const profile_parts& of, report_page& into) {
  html::section& made = into.add_section("arrays", "Arrays");
  if (of.arrays.empty()) {
    made.paragraph("No array was observed.");
    return;
  }
  into.add_figure(
      made, "arrays", picture_of(of),
      "Each array has strips from its first page to its last: the node that holds a page, "
      "below it the nodes whose threads use it. Where both have the same colour, memory is "
      "local. If a plan places the array, two more strips show the same with the plan, "
      "which also binds the threads (predicted). Where a page has "
      "several users, the height of a colour is its share. Empty: nothing was observed.",
      {});
  add_tables(of, made, into);
}

} // namespace nodewise::cli
