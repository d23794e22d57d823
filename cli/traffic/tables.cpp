// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Tables by node, by object and by source line.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/traffic/view.hpp"
#include "report/table.hpp"
#include "symbols/names.hpp"

namespace nodewise::cli {

namespace {

using report::breaking;
using report::right;
using report::tone;

constexpr std::size_t most_rows = 8;

std::string node_name(node_id node) {
  return node == unknown_node ? "N?" : fmt::format("N{}", node);
}

std::string percent(double ratio, bool is_short) {
  if (!is_short || ratio == 0) {
    return ratio == 0 ? "-" : report::format_percent(ratio);
  }
  return std::to_string(std::lround(ratio * 100));
}

/// Darker for larger ratios if the terminal can show it; else nothing.
std::string shade(const report::style& how, double ratio) {
  static constexpr std::array levels = {"  ", "░░", "▒▒", "▓▓", "██"};
  if (!how.terminal || !how.unicode) {
    return {};
  }
  const auto level = static_cast<std::size_t>(std::ceil(std::clamp(ratio, 0.0, 1.0) * 4));
  return std::string(levels[level]) + " ";
}

tone tone_of(node_id from, node_id to, std::uint64_t lines) {
  return lines == 0 ? tone::faint : from == to ? tone::good : tone::warning;
}

std::string percent_of(std::uint64_t part, double whole) {
  return report::format_percent(static_cast<double>(part) / whole);
}

using sized_way = std::pair<std::uint64_t, traffic::site::way>;

/// The largest cells of a matrix that is too large for a terminal.
std::string heaviest_ways(const traffic::node_matrix& matrix, double total) {
  std::vector<sized_way> ways;
  for (std::size_t r = 0; r < matrix.from.size(); ++r) {
    for (std::size_t c = 0; c < matrix.to.size(); ++c) {
      if (matrix.at(r, c) != 0) {
        ways.push_back({matrix.at(r, c), {matrix.from[r], matrix.to[c]}});
      }
    }
  }
  std::ranges::sort(ways, [](const sized_way& a, const sized_way& b) {
    return std::tie(b.first, a.second) < std::tie(a.first, b.second);
  });
  ways.resize(std::min(most_rows, ways.size()));
  return joined(ways, "", [&](const sized_way& way) {
    return fmt::format("  from {} to the memory of {}: {}\n", node_name(way.second.first),
                       node_name(way.second.second), percent_of(way.first, total));
  });
}

/// "N0 75.0 %, N1 25.0 %"; if there are many nodes, those with most pages.
std::string pages_text(const traffic::site& of) {
  constexpr std::size_t most_nodes = 4;
  using counted_node = std::pair<node_id, std::uint64_t>;
  std::vector<counted_node> nodes(of.pages.begin(), of.pages.end());
  std::erase_if(nodes, [](const counted_node& each) { return each.second == 0; });
  double all = 0;
  for (const auto& [node, pages] : nodes) {
    all += static_cast<double>(pages);
  }
  const bool are_many = nodes.size() > most_nodes;
  if (are_many) {
    std::ranges::sort(nodes, [](const counted_node& a, const counted_node& b) {
      return std::tie(b.second, a.first) < std::tie(a.second, b.first);
    });
    if (static_cast<double>(nodes.front().second - nodes.back().second) <= 0.01 * all) {
      return fmt::format("{} nodes alike", nodes.size());
    }
    nodes.resize(most_nodes - 1);
  }
  const auto share = [&](const counted_node& each) {
    return fmt::format("{} {}", node_name(each.first), percent_of(each.second, all));
  };
  return nodes.empty() ? "-" : joined(nodes, ", ", share) + (are_many ? ", ..." : "");
}

report::cell share_cell(const traffic::locality& where) {
  const auto share = where.share();
  return {report::format_percent(share, "-"), share && *share < 1 ? tone::warning : tone::plain};
}

} // namespace

std::string label_of(const traffic::named_site& site) {
  const std::string name = symbols::abbreviated(site.name.label);
  return site.what.objects > 1 ? fmt::format("{} ({} objects)", name, site.what.objects) : name;
}

std::uint64_t least_worth_a_row(const traffic::summary& what) {
  return traffic::totals(what.all, what.judged).where.total() / 1000 + 1;
}

std::string traffic_matrix_text(const traffic::summary& what, const report::style& how) {
  constexpr std::size_t most_long = 6;
  constexpr std::size_t most_short = 12;
  const traffic::node_matrix matrix = traffic::node_by_node(what.all, what.judged);
  const auto total = static_cast<double>(matrix.total());
  const std::string title =
      fmt::format("Lines in {}, in percent of all", traffic::phase_name(what.judged));
  if (total == 0) {
    return {};
  }
  if (matrix.to.size() > most_short) {
    return report::title_line(title, how) + heaviest_ways(matrix, total);
  }
  const bool is_short = matrix.to.size() > most_long;
  std::vector<report::column> columns = {"processors of"};
  for (const node_id to : matrix.to) {
    columns.push_back(right((is_short ? "" : "memory ") + node_name(to)));
  }
  report::table rows(std::move(columns), 2);
  for (std::size_t r = 0; r < matrix.from.size(); ++r) {
    std::vector<report::cell> row = {node_name(matrix.from[r])};
    for (std::size_t c = 0; c < matrix.to.size(); ++c) {
      const std::uint64_t lines = matrix.at(r, c);
      const double ratio = static_cast<double>(lines) / total;
      row.emplace_back((is_short ? "" : shade(how, ratio)) + percent(ratio, is_short),
                       tone_of(matrix.from[r], matrix.to[c], lines));
    }
    rows.add(std::move(row));
  }
  return rows.below(title, how);
}

std::string traffic_objects_text(const traffic::summary& what, const report::style& how) {
  report::table rows({breaking("object"), right("size"), right("local"), right("remote lines"),
                      breaking("pages on")},
                     2);
  std::size_t more = 0;
  std::size_t shown = 0;
  const std::uint64_t least = least_worth_a_row(what);
  for (const traffic::named_site& site : what.sites) {
    const traffic::locality where = site.what.where(what.judged);
    if (where.total() == 0) {
      continue;
    }
    if (shown == most_rows || where.total() < least) {
      ++more;
      continue;
    }
    ++shown;
    rows.add({label_of(site), site.what.bytes != 0 ? report::format_bytes(site.what.bytes) : "-",
              share_cell(where), std::to_string(where.remote + where.unknown),
              pages_text(site.what)});
  }
  return rows.below(
      fmt::format("Objects in {}, most remote lines first", traffic::phase_name(what.judged)), how,
      more);
}

std::string traffic_lines_text(const traffic::summary& what, const report::style& how) {
  report::table rows(
      {breaking("source line"), breaking("in"), right("local"), right("remote fills")}, 2);
  const std::size_t when = traffic::index_of(what.judged);
  const std::uint64_t least = least_worth_a_row(what);
  std::size_t shown = 0;
  for (const traffic::source_line& line : what.lines) {
    if (shown < most_rows && line.fills[when].total() >= least) {
      ++shown;
      const bool has_line = line.name.function != line.name.label;
      rows.add({symbols::abbreviated(line.name.label),
                has_line ? symbols::abbreviated(line.name.function) : "",
                share_cell(line.fills[when]), std::to_string(line.fills[when].remote)});
    }
  }
  return rows.below(
      fmt::format("Source lines in {}, most remote fills first", traffic::phase_name(what.judged)),
      how);
}

} // namespace nodewise::cli
