// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/pages/view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/path.hpp"
#include "base/text.hpp"
#include "report/bar.hpp"
#include "report/table.hpp"

namespace nodewise::cli {

namespace {

using observe::area;
using observe::page_map;
using report::tone;

constexpr std::uint64_t small_bytes = 64U << 10;
constexpr std::size_t most_rows = 40;
constexpr std::size_t name_columns = 28;

report::strip strip_of(const std::vector<const area*>& areas) {
  std::vector<report::page_run> runs;
  for (const area* const each : areas) {
    for (const observe::page_run& r : each->runs) {
      const bool nothing = r.node == observe::absent_page || r.node == observe::zero_page;
      runs.push_back({r.pages, nothing ? report::not_resident : r.node});
    }
  }
  return report::strip(std::move(runs));
}

std::string short_name(const area& what) {
  const std::string_view name = what.name.empty()            ? to_string(what.kind)
                                : what.name.starts_with('/') ? last_part(what.name)
                                                             : std::string_view(what.name);
  const bool fits = report::display_width(name) <= name_columns;
  return fits ? std::string(name) : fmt::format("{}...", name.substr(0, name_columns - 3));
}

std::string painted_node(node_id node, const report::style& how) {
  return node == unknown_node ? report::paint(how, tone::warning, "?")
                              : report::paint_node(how, to_int(node), fmt::format("{}", node));
}

/// Whole percents of the pages in memory: "0:25 1:75", "?:100".
std::string nodes_of_area(const area& what, const report::style& how) {
  std::vector<area::share> shares = what.per_node;
  if (what.unknown != 0) {
    shares.push_back({unknown_node, what.unknown});
  }
  return joined(shares, " ", [&](const area::share& s) {
    const double percent =
        100.0 * static_cast<double>(s.pages) / static_cast<double>(what.resident);
    // 100 only for all pages; a share that rounds to 0 becomes "<1".
    const long shown = s.pages == what.resident ? 100 : std::clamp(std::lround(percent), 0L, 99L);
    return fmt::format("{}:{}", painted_node(s.node, how),
                       shown == 0 ? "<1" : std::to_string(shown));
  });
}

std::string page_text(const area& what, const page_map& map) {
  const std::string base =
      report::format_bytes(what.page_bytes != 0 ? what.page_bytes : map.page_bytes);
  if (!what.huge_bytes) {
    return base + " ?";
  }
  if (*what.huge_bytes == 0) {
    return base;
  }
  return *what.huge_bytes >= what.resident * map.page_bytes ? "huge" : base + "+huge";
}

std::string policy_text(const area& what) {
  const std::size_t parts = what.policies.size();
  const bool same = std::ranges::all_of(
      what.policies, [&](const auto& p) { return p.second == what.policies.front().second; });
  return parts == 0 ? "" : same ? what.policies.front().second : counted(parts, "part");
}

std::string threads_text(const page_map& map, const report::style& how) {
  std::map<node_id, std::pair<std::size_t, std::size_t>> by_node; // threads, and active ones
  for (const observe::thread_facts& t : map.threads) {
    ++by_node[t.node].first;
    by_node[t.node].second += t.active ? 1U : 0U;
  }
  const std::string nodes = joined(by_node, ", ", [&](const auto& each) {
    const auto& [node, threads] = each;
    return fmt::format("{} on {}{}", threads.first,
                       node == unknown_node ? "?" : "node " + painted_node(node, how),
                       threads.second == 0 ? "" : fmt::format(" ({} active)", threads.second));
  });
  return fmt::format("{}{}{}", counted(map.threads.size(), "thread"), nodes.empty() ? "" : ": ",
                     nodes);
}

std::string method_text(const page_map& map) {
  switch (map.how) {
  case observe::method::pagemap:
    return "by frame number (pagemap), page by page";
  case observe::method::move_pages:
    return "by move_pages, page by page";
  case observe::method::numa_maps:
    break;
  }
  const std::string refused =
      map.refused_errno == 0 ? "" : "; move_pages failed: " + errno_text(map.refused_errno);
  return "resolution reduced: totals of mappings only (numa_maps)" + refused;
}

std::string heading(const page_map& map, const report::style& how,
                    const pages_view_options& options) {
  std::string text =
      fmt::format("{} (process {})\n  {}\n  pages {}{}{}\n",
                  report::paint(how, tone::strong, map.command), map.pid, threads_text(map, how),
                  method_text(map), options.settings.empty() ? "" : "; ", options.settings);
  for (const std::string& note : map.notes) {
    text += fmt::format("  {}\n", report::paint(how, tone::warning, note));
  }
  return text;
}

/// Largest in memory first, then by address.
std::vector<const area*> by_size(const page_map& map) {
  std::vector<const area*> areas;
  for (const area& a : map.areas) {
    areas.push_back(&a);
  }
  std::ranges::sort(areas, [](const area* a, const area* b) {
    return std::tuple(b->resident, b->pages, a->where.first) <
           std::tuple(a->resident, a->pages, b->where.first);
  });
  return areas;
}

std::size_t strip_columns(const report::style& how) {
  constexpr std::size_t others = 96; // width of a usual row's other columns
  return std::clamp<std::size_t>(how.width - std::min(how.width, others), 16, 64);
}

std::string mb_text(std::uint64_t bytes) { // numastat's MB
  return fmt::format("{:.2f}", static_cast<double>(bytes) / (1 << 20));
}

std::string totals_table(const page_map& map, const report::style& how) {
  std::map<int, std::uint64_t> sums;
  for (const observe::memory_totals& t : map.totals) {
    for (const auto& [node, bytes] : t.bytes) {
      sums[node] += bytes;
    }
  }
  std::vector<report::column> columns = {{"MB"}};
  for (const auto& [node, bytes] : sums) {
    columns.push_back(report::right(fmt::format("node {}", node)));
  }
  columns.push_back(report::right("total"));
  report::table rows(std::move(columns), 2);
  const auto add = [&](std::string_view name, std::map<int, std::uint64_t> bytes) {
    std::vector<report::cell> row = {{std::string(name)}};
    std::uint64_t total = 0;
    for (const auto& [node, ignored] : sums) {
      total += bytes[node];
      row.emplace_back(mb_text(bytes[node]));
    }
    row.emplace_back(mb_text(total));
    rows.add(std::move(row));
  };
  for (const observe::memory_totals& t : map.totals) {
    add(t.category, t.bytes);
  }
  add("Total", sums);
  return rows.to_string(how);
}

/// The sum of all areas, as if they were one.
area sum_of(const std::vector<const area*>& areas) {
  area sum;
  std::map<node_id, std::uint64_t> nodes;
  for (const area* const a : areas) {
    sum.pages += a->pages;
    sum.resident += a->resident;
    sum.unknown += a->unknown;
    for (const area::share& s : a->per_node) {
      nodes[s.node] += s.pages;
    }
  }
  for (const auto& [node, pages] : nodes) {
    sum.per_node.push_back({node, pages});
  }
  return sum;
}

/// The values of the columns that fit the terminal; a pipe gets all.
template <class Value>
std::vector<Value> fitting(const report::style& how, std::vector<Value> all) {
  // mapping, what, size, in memory, where, % on node, page, policy, near, near active
  constexpr std::array<std::size_t, 10> least_width = {0, 100, 110, 0, 0, 0, 125, 90, 0, 125};
  std::vector<Value> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!how.terminal || how.width >= least_width.at(i)) {
      kept.push_back(std::move(all[i]));
    }
  }
  return kept;
}

} // namespace

std::string pages_text(const page_map& map, const report::style& how,
                       const pages_view_options& options) {
  std::string text = heading(map, how, options);
  if (options.totals) {
    return text + totals_table(map, how);
  }
  const node_set all_nodes = nodes_of(map.threads, false);
  const node_set active_nodes = nodes_of(map.threads, true);
  using report::right;
  report::table rows(fitting<report::column>(
                         how, {"mapping", "what", right("size"), right("in memory"), "where in it",
                               "% on node", "page", "policy", right("near"), right("near active")}),
                     2);
  const auto add = [&](const area& a, std::string name, std::string_view what, bool drawn) {
    rows.add(fitting<report::cell>(
        how, {std::move(name), std::string(what), report::format_bytes(a.pages * map.page_bytes),
              report::format_bytes(a.resident * map.page_bytes),
              drawn ? strip_of({&a}).draw(how, strip_columns(how)) : "",
              a.resident == 0 ? "" : nodes_of_area(a, how), drawn ? page_text(a, map) : "",
              drawn ? policy_text(a) : "", report::format_percent(a.share_on(all_nodes), "-"),
              active_nodes.empty() ? "-" : report::format_percent(a.share_on(active_nodes), "-")}));
  };
  const std::vector<const area*> areas = by_size(map);
  std::vector<const area*> left_out;
  std::vector<const area*> shown;
  for (const area* const a : areas) {
    const bool large = a->resident * map.page_bytes >= small_bytes && shown.size() < most_rows;
    if (large || options.all) {
      shown.push_back(a);
      add(*a, short_name(*a), to_string(a->kind), true);
    } else {
      left_out.push_back(a);
    }
  }
  add(sum_of(areas), report::paint(how, tone::strong, "all"), "", false);
  text += rows.to_string(how);
  if (!left_out.empty()) {
    text += fmt::format("  and {} {}, {} in all; --all lists them\n",
                        counted(left_out.size(), "mapping"),
                        shown.size() < most_rows ? "with less than 64 KiB in memory" : "more",
                        report::format_bytes(sum_of(left_out).resident * map.page_bytes));
  }
  return fmt::format("{}  {}\n", text, strip_of(shown).legend(how));
}

} // namespace nodewise::cli
