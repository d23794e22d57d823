// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/pages_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <tuple>

#include <nodewise/error.hpp>

#include "report/strip.hpp"
#include "report/table.hpp"
#include "symbols/names.hpp"

namespace nodewise::cli {

namespace {

using observe::area;
using observe::page_map;
using report::tone;

constexpr std::uint64_t small_bytes = 64U << 10;
constexpr std::size_t most_rows = 40;
constexpr std::size_t name_columns = 28;

std::string plural(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

report::strip strip_of(const area& what) {
  std::vector<report::page_run> runs;
  runs.reserve(what.runs.size());
  for (const observe::page_run& r : what.runs) {
    const bool nothing = r.node == observe::absent_page || r.node == observe::zero_page;
    runs.push_back({r.pages, nothing ? report::not_resident : r.node});
  }
  return report::strip(std::move(runs));
}

std::string short_name(const area& what) {
  std::string name = what.name;
  if (name.starts_with('/')) {
    name = std::string(last_part(name));
  }
  if (name.empty()) {
    return std::string(to_string(what.kind));
  }
  if (report::display_width(name) > name_columns && name.size() > name_columns) {
    name = name.substr(0, name_columns - 3) + "...";
  }
  return name;
}

/// Whole percents of the pages in memory: "0:25 1:75", "?:100".
std::string nodes_of_area(const area& what, const report::style& how) {
  std::string text;
  const auto add = [&](int node, std::uint64_t pages) {
    const double percent = 100.0 * static_cast<double>(pages) / static_cast<double>(what.resident);
    // 100 only for all pages; a share that rounds to 0 becomes "<1".
    const long shown = pages == what.resident ? 100 : std::clamp(std::lround(percent), 0L, 99L);
    const std::string number = shown == 0 ? "<1" : std::to_string(shown);
    text += text.empty() ? "" : " ";
    text += node >= 0 ? report::paint_node(how, node, std::to_string(node)) + ":" + number
                      : report::paint(how, tone::warning, "?") + ":" + number;
  };
  for (const area::share& s : what.per_node) {
    add(to_int(s.node), s.pages);
  }
  if (what.unknown != 0) {
    add(-1, what.unknown);
  }
  return text;
}

std::string page_text(const area& what, const page_map& map) {
  const std::uint64_t base = what.page_bytes != 0 ? what.page_bytes : map.page_bytes;
  if (!what.huge_bytes) {
    return report::format_bytes(base) + " ?";
  }
  if (*what.huge_bytes == 0) {
    return report::format_bytes(base);
  }
  return *what.huge_bytes >= what.resident * map.page_bytes ? "huge"
                                                            : report::format_bytes(base) + "+huge";
}

std::string policy_text(const area& what) {
  const std::size_t parts = what.policies.size();
  const bool same = std::ranges::all_of(
      what.policies, [&](const auto& p) { return p.second == what.policies.front().second; });
  return parts == 0 ? "" : same ? what.policies.front().second : plural(parts, "part");
}

std::string percent_or_dash(const std::optional<double>& ratio) {
  return ratio ? report::format_percent(*ratio) : "-";
}

std::string threads_text(const page_map& map, const report::style& how) {
  std::map<int, std::pair<std::size_t, std::size_t>> by_node; // threads, and active ones
  for (const observe::thread_facts& t : map.threads) {
    ++by_node[to_int(t.node)].first;
    by_node[to_int(t.node)].second += t.active ? 1U : 0U;
  }
  std::string text = plural(map.threads.size(), "thread");
  const char* separator = ": ";
  for (const auto& [node, count] : by_node) {
    text += separator + std::to_string(count.first) + " on ";
    text += node >= 0 ? "node " + report::paint_node(how, node, std::to_string(node)) : "?";
    text += count.second != 0 ? " (" + std::to_string(count.second) + " active)" : "";
    separator = ", ";
  }
  return text;
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
  return "resolution reduced: totals of mappings only (numa_maps)" +
         (map.refused_errno == 0 ? std::string{}
                                 : "; move_pages answered " + errno_text(map.refused_errno));
}

std::string heading(const page_map& map, const report::style& how,
                    const pages_view_options& options) {
  std::string text = report::paint(how, tone::strong, map.command) + " (process " +
                     std::to_string(map.pid) + ")\n";
  text += "  " + threads_text(map, how) + "\n";
  text += "  pages " + method_text(map) + (options.settings.empty() ? "" : "; ") +
          options.settings + "\n";
  for (const std::string& note : map.notes) {
    text += "  " + report::paint(how, tone::warning, note) + "\n";
  }
  return text;
}

/// Largest in memory first.
std::vector<const area*> by_size(const page_map& map) {
  std::vector<const area*> areas;
  areas.reserve(map.areas.size());
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
  constexpr std::size_t fewest = 16;
  constexpr std::size_t most = 64;
  return how.width <= others + fewest ? fewest : std::min(how.width - others, most);
}

std::string mb_text(std::uint64_t bytes) {
  std::array<char, 32> text{};
  constexpr double mb = 1 << 20; // numastat's MB
  (void)std::snprintf(text.data(), text.size(), "%.2f", static_cast<double>(bytes) / mb);
  return text.data();
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
    columns.push_back({"node " + std::to_string(node), report::align::right});
  }
  columns.push_back({"total", report::align::right});
  report::table rows(std::move(columns), 2);
  const auto add = [&](std::string_view name, const std::map<int, std::uint64_t>& bytes) {
    std::vector<report::cell> row = {{std::string(name)}};
    std::uint64_t total = 0;
    for (const auto& [node, ignored] : sums) {
      const auto at = bytes.find(node);
      const std::uint64_t here = at == bytes.end() ? 0 : at->second;
      total += here;
      row.emplace_back(mb_text(here));
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
  std::map<int, std::uint64_t> nodes;
  for (const area* const a : areas) {
    sum.pages += a->pages;
    sum.resident += a->resident;
    sum.unknown += a->unknown;
    for (const area::share& s : a->per_node) {
      nodes[to_int(s.node)] += s.pages;
    }
  }
  for (const auto& [node, pages] : nodes) {
    sum.per_node.push_back({node_id{node}, pages});
  }
  return sum;
}

/// The columns that fit the terminal; a pipe gets all.
class wanted_columns {
 public:
  explicit wanted_columns(const report::style& how) : width_(how.terminal ? how.width : SIZE_MAX) {}

  template <class Cell>
  [[nodiscard]] std::vector<Cell> of(std::vector<Cell> all) const {
    // mapping, what, size, in memory, where, % on node, page, policy, near, near active
    constexpr std::array<std::size_t, 10> least_width = {0, 100, 110, 0, 0, 0, 125, 90, 0, 125};
    std::vector<Cell> kept;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (width_ >= least_width.at(i)) {
        kept.push_back(std::move(all[i]));
      }
    }
    return kept;
  }

 private:
  std::size_t width_;
};

} // namespace

std::vector<observe::area::share> shares_of(const page_map& map) {
  return sum_of(by_size(map)).per_node;
}

std::string pages_text(const page_map& map, const report::style& how,
                       const pages_view_options& options) {
  std::string text = heading(map, how, options);
  if (options.totals) {
    return text + totals_table(map, how);
  }
  const node_set all_nodes = nodes_of(map.threads, false);
  const node_set active_nodes = nodes_of(map.threads, true);
  const std::size_t columns = strip_columns(how);
  const auto right = report::align::right;
  const wanted_columns wanted(how);
  report::table rows(wanted.of<report::column>({{"mapping"},
                                                {"what"},
                                                {"size", right},
                                                {"in memory", right},
                                                {"where in it"},
                                                {"% on node"},
                                                {"page"},
                                                {"policy"},
                                                {"near", right},
                                                {"near active", right}}),
                     2);
  const auto add = [&](const area& a, std::string name, std::string_view what, bool drawn) {
    rows.add(wanted.of<report::cell>(
        {std::move(name), std::string(what), report::format_bytes(a.pages * map.page_bytes),
         report::format_bytes(a.resident * map.page_bytes),
         drawn ? strip_of(a).draw(how, columns) : "", a.resident == 0 ? "" : nodes_of_area(a, how),
         drawn ? page_text(a, map) : "", drawn ? policy_text(a) : "",
         percent_or_dash(a.share_on(all_nodes)),
         percent_or_dash(active_nodes.empty() ? std::nullopt : a.share_on(active_nodes))}));
  };
  const std::vector<const area*> areas = by_size(map);
  std::vector<const area*> left_out;
  std::vector<report::page_run> shown_pages;
  std::size_t shown = 0;
  for (const area* const a : areas) {
    const bool large = a->resident * map.page_bytes >= small_bytes && shown < most_rows;
    if (!large && !options.all) {
      left_out.push_back(a);
      continue;
    }
    ++shown;
    add(*a, short_name(*a), to_string(a->kind), true);
    for (const observe::page_run& r : a->runs) {
      shown_pages.push_back(
          {r.pages, to_int(r.node) >= 0 || r.node == unknown_node ? r.node : report::not_resident});
    }
  }
  add(sum_of(areas), report::paint(how, tone::strong, "all"), "", false);
  text += rows.to_string(how);
  if (!left_out.empty()) {
    const area rest = sum_of(left_out);
    text += "  and " + plural(left_out.size(), "mapping") +
            (shown < most_rows ? " with less than 64 KiB in memory" : " more") + ", " +
            report::format_bytes(rest.resident * map.page_bytes) + " in all; --all lists them\n";
  }
  return text + "  " + report::strip(std::move(shown_pages)).legend(how) + "\n";
}

} // namespace nodewise::cli
