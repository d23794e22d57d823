// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/bar.hpp"

#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/text.hpp"

namespace nodewise::report {

namespace {

constexpr std::size_t widest_bar = 40;
constexpr std::size_t narrowest_bar = 8;

/// `ratio` of `units`; only 0 gives none, and only 1 gives all.
std::size_t filled_units(double ratio, std::size_t units) {
  if (!(ratio > 0) || ratio >= 1 || units == 0) {
    return ratio >= 1 ? units : 0;
  }
  const auto rounded = static_cast<std::size_t>(std::lround(ratio * static_cast<double>(units)));
  return std::clamp<std::size_t>(rounded, 1, std::max<std::size_t>(1, units - 1));
}

std::vector<page_run> single_pages(std::span<const node_id> owners) {
  std::vector<page_run> runs;
  for (const node_id owner : owners) {
    runs.push_back({1, owner});
  }
  return runs;
}

/// The owner of more than half of the pages first..last-1, or `mixed_owners`. The first of the runs
/// begins at page `start` and has page `first`.
node_id owner_of(std::span<const page_run> runs, std::size_t start, std::size_t first,
                 std::size_t last) {
  std::map<node_id, std::size_t> pages;
  for (const page_run& run : runs) {
    if (start >= last) {
      break;
    }
    const std::size_t end = start + run.pages;
    pages[run.owner] += std::min(end, last) - std::max(start, first);
    start = end;
  }
  const auto most =
      std::ranges::find_if(pages, [&](const auto& each) { return 2 * each.second > last - first; });
  return most == pages.end() ? mixed_owners : most->first;
}

} // namespace

std::string bar(const style& how, double ratio, std::size_t columns) {
  if (!how.unicode) {
    return fmt::format("{:.<{}}", std::string(filled_units(ratio, columns), '#'), columns);
  }
  static constexpr std::array eighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const std::size_t units = filled_units(ratio, columns * 8);
  std::string text;
  for (std::size_t i = 0; i < units / 8; ++i) {
    text += "█";
  }
  text += eighths[units % 8];
  return pad_right(text, columns);
}

std::string share_bars(const style& how, std::span<const share> shares, std::size_t indent) {
  const std::size_t label_width = widest(shares, 0, &share::label);
  const std::size_t note_width = widest(shares, 0, &share::note);
  constexpr std::size_t percent_width = 6;
  const std::size_t taken = indent + label_width + percent_width + note_width + 6;
  const std::size_t columns =
      std::clamp(how.width > taken ? how.width - taken : 0, narrowest_bar, widest_bar);
  std::string out;
  for (const share& s : shares) {
    const std::string drawn = std::isfinite(s.ratio)
                                  ? paint_node(how, to_int(s.node), bar(how, s.ratio, columns))
                                  : std::string(columns, ' ');
    const std::string note = s.note.empty() ? "" : "  " + pad_left(s.note, note_width);
    out += fmt::format("{:{}}{}  {}  {}{}\n", "", indent, pad_right(s.label, label_width), drawn,
                       pad_left(format_percent(s.ratio), percent_width), note);
  }
  return out;
}

strip::strip(std::vector<page_run> runs) : runs_(std::move(runs)) {
  for (const page_run& run : runs_) {
    totals_[run.owner] += run.pages;
    pages_ += run.pages;
  }
}

strip::strip(std::span<const node_id> owners) : strip(single_pages(owners)) {}

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
  const auto above = std::distance(totals_.lower_bound(node_id{10}), totals_.find(owner));
  const auto at = static_cast<std::size_t>(above);
  return paint_node(how, to_int(owner), at < letters.size() ? letters.substr(at, 1) : "#");
}

std::string strip::draw(const style& how, std::size_t columns) const {
  if (pages_ == 0) {
    return {};
  }
  const auto page_at = [&](std::size_t column) {
    // In floating point, since pages times columns may overflow. Never beyond the end.
    return std::min(
        pages_, static_cast<std::size_t>(static_cast<double>(pages_) * static_cast<double>(column) /
                                         static_cast<double>(columns)));
  };
  std::string out;
  std::span<const page_run> left = runs_; // from the one with the column's first page, at `start`
  std::size_t start = 0;
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t first = std::min(page_at(column), pages_ - 1);
    const std::size_t last = column + 1 == columns ? pages_ : page_at(column + 1);
    for (; start + left.front().pages <= first; left = left.subspan(1)) {
      start += left.front().pages;
    }
    out += mark(how, owner_of(left, start, first, std::max(last, first + 1)));
  }
  return out;
}

std::string strip::legend(const style& how) const {
  std::vector<std::string> nodes;
  std::vector<std::string> others;
  if (totals_.size() > 1) {
    others.push_back(mark(how, mixed_owners) + " mixed");
  }
  for (const auto& [owner, pages] : totals_) {
    const bool is_node = to_int(owner) >= 0;
    const std::string name = is_node                 ? fmt::format("node {}", owner)
                             : owner == not_resident ? "not in memory"
                                                     : "unknown";
    const double share = static_cast<double>(pages) / static_cast<double>(pages_);
    (is_node ? nodes : others)
        .push_back(fmt::format("{} {} ({})", mark(how, owner), name, format_percent(share)));
  }
  nodes.insert(nodes.end(), others.begin(), others.end());
  return joined(nodes, "  ");
}

} // namespace nodewise::report
