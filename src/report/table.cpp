// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/table.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/core.h>

namespace nodewise::report {

namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest_broken = 12;

} // namespace

table::table(std::vector<column> columns, std::size_t indent)
    : columns_(std::move(columns)), indent_(indent) {}

void table::add(std::vector<cell> row) {
  if (row.size() > columns_.size()) {
    throw std::logic_error(
        fmt::format("a row of {} cells in a table of {} columns", row.size(), columns_.size()));
  }
  row.resize(columns_.size(), cell{""});
  rows_.push_back(std::move(row));
}

std::vector<std::size_t> table::widths(const style& how) const {
  std::vector<std::size_t> wide(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    wide[c] = widest(rows_, display_width(columns_[c].header),
                     [c](const std::vector<cell>& row) -> const auto& { return row[c].text; });
  }
  if (!how.terminal) {
    return wide;
  }
  const std::size_t gaps = indent_ + (columns_.empty() ? 0 : gap * (columns_.size() - 1));
  std::size_t total = std::accumulate(wide.begin(), wide.end(), gaps);
  // Shrink the widest column that may be broken first.
  while (total > how.width) {
    std::size_t* most = nullptr;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].breaks && wide[c] > narrowest_broken &&
          (most == nullptr || wide[c] > *most)) {
        most = &wide[c];
      }
    }
    if (most == nullptr) {
      break;
    }
    --*most;
    --total;
  }
  return wide;
}

std::string table::to_string(const style& how) const {
  const std::vector<std::size_t> wide = widths(how);
  std::string out;
  const auto write_row = [&](const std::vector<cell>& row) {
    std::vector<std::vector<std::string>> lines(row.size());
    std::size_t height = 1;
    for (std::size_t c = 0; c < row.size(); ++c) {
      lines[c] =
          columns_[c].breaks ? wrap(row[c].text, wide[c]) : std::vector<std::string>{row[c].text};
      height = std::max(height, lines[c].size());
    }
    for (std::size_t l = 0; l < height; ++l) {
      std::string line(indent_, ' ');
      for (std::size_t c = 0; c < row.size(); ++c) {
        const std::string text = l < lines[c].size() ? lines[c][l] : "";
        const auto pad = columns_[c].side == align::right ? pad_left : pad_right;
        line += pad(paint(how, row[c].what, text), wide[c]) + std::string(gap, ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
  };
  if (std::ranges::any_of(columns_, [](const column& c) { return !c.header.empty(); })) {
    std::vector<cell> header;
    header.reserve(columns_.size());
    for (const column& c : columns_) {
      header.emplace_back(c.header, tone::strong);
    }
    write_row(header);
  }
  for (const auto& row : rows_) {
    write_row(row);
  }
  return out;
}

std::string table::below(std::string_view title, const style& how, std::size_t left_out) const {
  const std::string more = left_out > 0 ? fmt::format("  and {} more\n", left_out) : "";
  return empty() ? "" : title_line(title, how) + to_string(how) + more;
}

} // namespace nodewise::report
