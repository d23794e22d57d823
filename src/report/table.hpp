// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "report/style.hpp"

namespace nodewise::report {

enum class align { left, right };

struct column {
  std::string header;
  align side = align::left;
  /// Wrapped into several lines if the terminal is narrower than the table. In a pipe a row stays
  /// one line, for grep and awk.
  bool breaks = false;

  column(std::string name, align where = align::left, bool may_break = false)
      : header(std::move(name)), side(where), breaks(may_break) {}
  column(const char* name, align where = align::left, bool may_break = false)
      : header(name), side(where), breaks(may_break) {}
};

[[nodiscard]] inline column right(std::string header) {
  return {std::move(header), align::right};
}
[[nodiscard]] inline column breaking(std::string header) {
  return {std::move(header), align::left, true};
}

struct cell {
  std::string text;
  tone what = tone::plain;

  cell(std::string content, tone look = tone::plain) : text(std::move(content)), what(look) {}
  cell(const char* content, tone look = tone::plain) : text(content), what(look) {}
};

/// Rows under headers, with two spaces between columns. Cells may hold coloured text if their
/// column does not break.
class table {
 public:
  explicit table(std::vector<column> columns, std::size_t indent = 0);

  /// At most one cell for each column; missing cells are empty. More throw std::logic_error.
  void add(std::vector<cell> row);
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  /// Every line ends with a newline, without spaces before it.
  [[nodiscard]] std::string to_string(const style& how) const;
  /// The same below a title (`title_line`), and the number of rows left out; empty without rows.
  [[nodiscard]] std::string below(std::string_view title, const style& how,
                                  std::size_t left_out = 0) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(const style& how) const;

  std::vector<column> columns_;
  std::vector<std::vector<cell>> rows_;
  std::size_t indent_;
};

} // namespace nodewise::report
