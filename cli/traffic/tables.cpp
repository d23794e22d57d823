// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Tables by node, by object and by source line.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/joined.hpp"
#include "cli/traffic/view.hpp"
#include "report/table.hpp"

namespace nodewise::cli {

namespace {

using report::align;
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

/// The largest cells of a matrix that is too large for a terminal.
std::string heaviest_ways(const traffic::node_matrix& matrix, double total) {
  struct way {
    std::uint64_t lines;
    node_id from;
    node_id to;
  };
  std::vector<way> ways;
  for (std::size_t r = 0; r < matrix.from.size(); ++r) {
    for (std::size_t c = 0; c < matrix.to.size(); ++c) {
      if (matrix.at(r, c) != 0) {
        ways.push_back({matrix.at(r, c), matrix.from[r], matrix.to[c]});
      }
    }
  }
  std::ranges::sort(ways, [](const way& a, const way& b) {
    return std::tuple(b.lines, a.from, a.to) < std::tuple(a.lines, b.from, b.to);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(most_rows, ways.size()); ++i) {
    text += fmt::format("  from {} to the memory of {}: {}\n", node_name(ways[i].from),
                        node_name(ways[i].to),
                        report::format_percent(static_cast<double>(ways[i].lines) / total));
  }
  return text;
}

/// "N0 75.0 %, N1 25.0 %"; if there are many nodes, those with most pages.
std::string pages_text(const traffic::site& of) {
  constexpr std::size_t most_nodes = 4;
  std::vector<std::pair<std::uint64_t, node_id>> nodes;
  std::uint64_t all = 0;
  for (const auto& [node, pages] : of.pages) {
    if (pages != 0) {
      nodes.emplace_back(pages, node);
      all += pages;
    }
  }
  const bool are_many = nodes.size() > most_nodes;
  if (are_many) {
    std::ranges::sort(nodes, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    const double spread = static_cast<double>(nodes.front().first - nodes.back().first);
    if (spread <= 0.01 * static_cast<double>(all)) {
      return fmt::format("{} nodes alike", nodes.size());
    }
    nodes.resize(most_nodes - 1);
  }
  const auto share = [&](const std::pair<std::uint64_t, node_id>& each) {
    return fmt::format(
        "{} {}", node_name(each.second),
        report::format_percent(static_cast<double>(each.first) / static_cast<double>(all)));
  };
  return nodes.empty() ? "-" : joined(nodes, ", ", share) + (are_many ? ", ..." : "");
}

report::cell share_cell(const traffic::locality& where) {
  const auto share = where.share();
  return {report::format_percent(share, "-"), share && *share < 1 ? tone::warning : tone::plain};
}

} // namespace

std::string label_of(const traffic::named_site& site) {
  return site.what.objects > 1 ? fmt::format("{} ({} objects)", site.name.label, site.what.objects)
                               : site.name.label;
}

std::uint64_t least_worth_a_row(const traffic::summary& what) {
  return traffic::totals(what.all, what.judged).where.total() / 1000 + 1;
}

std::string traffic_matrix_text(const traffic::summary& what, const report::style& how) {
  constexpr std::size_t most_long = 6;
  constexpr std::size_t most_short = 12;
  const traffic::node_matrix matrix = traffic::node_by_node(what.all, what.judged);
  const auto total = static_cast<double>(matrix.total());
  const std::string head = part_title(
      fmt::format("Lines in {}, in percent of all", traffic::phase_name(what.judged)), how);
  if (total == 0) {
    return {};
  }
  if (matrix.to.size() > most_short) {
    return head + heaviest_ways(matrix, total);
  }
  const bool is_short = matrix.to.size() > most_long;
  std::vector<report::column> columns = {{"processors of", align::left}};
  for (const node_id to : matrix.to) {
    columns.push_back({(is_short ? "" : "memory ") + node_name(to), align::right});
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
  return head + rows.to_string(how);
}

std::string traffic_objects_text(const traffic::summary& what, const report::style& how) {
  report::table rows({{"object", align::left, true},
                      {"size", align::right},
                      {"local", align::right},
                      {"remote lines", align::right},
                      {"pages on", align::left, true}},
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
  if (rows.empty()) {
    return {};
  }
  return part_title(fmt::format("Objects in {}, most remote lines first",
                                traffic::phase_name(what.judged)),
                    how) +
         rows.to_string(how) + (more != 0 ? fmt::format("  and {} more\n", more) : "");
}

std::string traffic_lines_text(const traffic::summary& what, const report::style& how) {
  report::table rows({{"source line", align::left, true},
                      {"in", align::left, true},
                      {"local", align::right},
                      {"remote fills", align::right}},
                     2);
  const std::size_t when = traffic::index_of(what.judged);
  const std::uint64_t least = least_worth_a_row(what);
  std::size_t shown = 0;
  for (const traffic::source_line& line : what.lines) {
    if (shown < most_rows && line.fills[when].total() >= least) {
      ++shown;
      rows.add({line.name.label, line.name.function, share_cell(line.fills[when]),
                std::to_string(line.fills[when].remote)});
    }
  }
  if (rows.empty()) {
    return {};
  }
  return part_title(fmt::format("Source lines in {}, most remote fills first",
                                traffic::phase_name(what.judged)),
                    how) +
         rows.to_string(how);
}

} // namespace nodewise::cli
