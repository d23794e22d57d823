// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/strip.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "base/joined.hpp"

namespace nodewise::report {

namespace {

std::vector<page_run> runs_of(std::span<const node_id> owners) {
  std::vector<page_run> runs;
  for (const node_id owner : owners) {
    if (runs.empty() || runs.back().owner != owner) {
      runs.push_back({0, owner});
    }
    ++runs.back().pages;
  }
  return runs;
}

std::vector<page_run> totals_of(std::span<const page_run> runs) {
  std::map<node_id, std::size_t> pages;
  for (const page_run& r : runs) {
    pages[r.owner] += r.pages;
  }
  std::vector<page_run> totals;
  for (const auto& [owner, count] : pages) {
    totals.push_back({count, owner});
  }
  return totals;
}

/// Walks through the runs once, column by column.
class column_walk {
 public:
  explicit column_walk(std::span<const page_run> runs) : runs_(runs) {}

  /// The owner of more than half of the pages first..last-1, or `mixed_owners`. Call it for columns
  /// in order; if there are fewer pages than columns, columns share pages.
  node_id owner(std::size_t first, std::size_t last) {
    while (run_ < runs_.size() && start_ + runs_[run_].pages <= first) {
      start_ += runs_[run_].pages;
      ++run_;
    }
    std::map<node_id, std::size_t> pages;
    std::size_t start = start_;
    for (std::size_t r = run_; r < runs_.size() && start < last; ++r) {
      const std::size_t end = start + runs_[r].pages;
      pages[runs_[r].owner] += std::min(end, last) - std::max(start, first);
      start = end;
    }
    for (const auto& [owner, count] : pages) {
      if (2 * count > last - first) {
        return owner;
      }
    }
    return mixed_owners;
  }

 private:
  std::span<const page_run> runs_;
  std::size_t run_ = 0;
  std::size_t start_ = 0;
};

} // namespace

strip::strip(std::vector<page_run> runs) : runs_(std::move(runs)), totals_(totals_of(runs_)) {
  for (const page_run& r : runs_) {
    pages_ += r.pages;
  }
}

strip::strip(std::span<const node_id> owners) : strip(runs_of(owners)) {}

std::string strip::mark(const style& how, node_id owner) const {
  if (owner == mixed_owners) {
    return paint(how, tone::faint, how.unicode ? "▒" : "*");
  }
  if (owner == not_resident) {
    return paint(how, tone::faint, how.unicode ? "·" : ".");
  }
  if (to_int(owner) < 0) {
    return paint(how, tone::warning, "?");
  }
  if (to_int(owner) < 10) {
    return paint_node(how, to_int(owner), fmt::format("{}", owner));
  }
  // Letters go only to nodes that occur, so that node 255 of two nodes gets one.
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const auto above = std::ranges::count_if(totals_, [&](const page_run& total) {
    return to_int(total.owner) >= 10 && total.owner < owner;
  });
  const auto at = static_cast<std::size_t>(above);
  return paint_node(how, to_int(owner),
                    at < letters.size() ? letters.substr(at, 1) : std::string_view{"#"});
}

std::string strip::draw(const style& how, std::size_t columns) const {
  std::string out;
  if (pages_ == 0) {
    return out;
  }
  column_walk walk(runs_);
  const auto page_at = [&](std::size_t column) {
    // In floating point, since pages times columns may overflow. Never beyond the end.
    return std::min(
        pages_, static_cast<std::size_t>(static_cast<double>(pages_) * static_cast<double>(column) /
                                         static_cast<double>(columns)));
  };
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t first = std::min(page_at(column), pages_ - 1);
    const std::size_t last = column + 1 == columns ? pages_ : page_at(column + 1);
    out += mark(how, walk.owner(first, std::max(last, first + 1)));
  }
  return out;
}

std::string strip::legend(const style& how) const {
  std::vector<std::string> nodes;
  std::vector<std::string> others;
  if (totals_.size() > 1) {
    others.push_back(mark(how, mixed_owners) + " mixed");
  }
  for (const page_run& total : totals_) {
    const bool is_node = to_int(total.owner) >= 0;
    const std::string name = is_node                       ? fmt::format("node {}", total.owner)
                             : total.owner == not_resident ? "not in memory"
                                                           : "unknown";
    const double share = static_cast<double>(total.pages) / static_cast<double>(pages_);
    (is_node ? nodes : others)
        .push_back(fmt::format("{} {} ({})", mark(how, total.owner), name, format_percent(share)));
  }
  nodes.insert(nodes.end(), others.begin(), others.end());
  return joined(nodes, "  ");
}

} // namespace nodewise::report
