// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "html/section.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace nodewise::html {

namespace {

using drawing::escaped;

std::string cell_text(cell_kind kind, std::string_view text) {
  switch (kind) {
  case cell_kind::number:
    return fmt::format("<td class=\"number\">{}</td>", escaped(text));
  case cell_kind::code:
    return fmt::format("<td><code>{}</code></td>", escaped(text));
  case cell_kind::text:
    break;
  }
  return fmt::format("<td>{}</td>", escaped(text));
}

/// Scrolls by itself where the page is narrow; the keyboard reaches it.
std::string table_text(const table& what, std::string_view attributes) {
  const std::string name = escaped(what.caption.empty() ? "table" : what.caption);
  std::string text = fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                                 "aria-label=\"{}\"><table{}>",
                                 name, attributes);
  if (!what.caption.empty()) {
    text += fmt::format("<caption>{}</caption>", name);
  }
  text += "<thead><tr>";
  for (const column& each : what.columns) {
    text +=
        fmt::format("<th scope=\"col\"{}>{}</th>",
                    each.kind == cell_kind::number ? " class=\"number\"" : "", escaped(each.title));
  }
  text += "</tr></thead>\n<tbody>\n";
  const std::size_t shown = std::min(what.rows.size(), most_rows_shown);
  for (std::size_t row = 0; row < shown; ++row) {
    text += "<tr>";
    for (std::size_t i = 0; i < what.columns.size(); ++i) {
      text += cell_text(what.columns[i].kind, what.rows[row][i]);
    }
    text += "</tr>\n";
  }
  text += "</tbody></table></div>\n";
  if (what.rows.size() > shown) {
    text += fmt::format("<p class=\"remark\">{} of {} rows.</p>\n", shown, what.rows.size());
  }
  return text;
}

/// Words with hyphens stay whole where a line breaks: the reader sees "--write-plan", not "--" at
/// the end of a line.
std::string code_text(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    text += word.find('-') == std::string_view::npos
                ? escaped(word)
                : fmt::format("<span class=\"word\">{}</span>", escaped(word));
    const std::size_t next = std::min(line.find_first_not_of(' ', end), line.size());
    text.append(next - end, ' ');
    line.remove_prefix(next);
  }
  return text;
}

} // namespace

section::section(std::string id, std::string title)
    : id_(std::move(id)), title_(std::move(title)) {}

void section::heading(std::string_view what) {
  elements_ += fmt::format("<h{0}>{1}</h{0}>\n", in_card_ ? 4 : 3, escaped(what));
}

void section::paragraph(std::string_view what) {
  elements_ += fmt::format("<p>{}</p>\n", escaped(what));
}

void section::remark(std::string_view what) {
  elements_ += fmt::format("<p class=\"remark\">{}</p>\n", escaped(what));
}

void section::list(const std::vector<std::string>& items) {
  if (items.empty()) {
    return;
  }
  elements_ += "<ul>\n";
  for (const std::string& each : items) {
    elements_ += fmt::format("<li>{}</li>\n", escaped(each));
  }
  elements_ += "</ul>\n";
}

void section::facts(const std::vector<std::pair<std::string, std::string>>& all) {
  elements_ += "<dl>\n";
  for (const auto& [name, value] : all) {
    elements_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), escaped(value));
  }
  elements_ += "</dl>\n";
}

void section::command(std::string_view line) {
  elements_ +=
      fmt::format("<pre class=\"command\"><code data-copy>{}</code></pre>\n", code_text(line));
}

void section::code(std::string_view what) {
  // Line by line: a line break in the text is one in the page, other control characters are shown.
  elements_ += "<pre><code data-copy>";
  while (!what.empty()) {
    const std::size_t end = std::min(what.find('\n'), what.size());
    elements_ += code_text(what.substr(0, end)) + (end < what.size() ? "\n" : "");
    what.remove_prefix(std::min(end + 1, what.size()));
  }
  elements_ += "</code></pre>\n";
}

void section::add(const table& what) {
  elements_ += table_text(what, "");
}

void section::long_table(std::string_view id, const table& what) {
  elements_ += table_text(what, fmt::format(" data-table=\"{}\"", escaped(id)));
}

void section::figure(const drawing::picture& what, std::string_view caption, const table& numbers,
                     std::string_view chart) {
  const std::string id = fmt::format("{}-{}", id_, ++figures_);
  const std::string interactive =
      chart.empty() ? "" : fmt::format(" data-chart=\"{}\"", escaped(chart));
  elements_ += fmt::format("<figure><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                           "aria-label=\"{}\"{}>{}</div>",
                           escaped(what.title), interactive, drawing::element_of(what, id));
  if (!caption.empty()) {
    elements_ += fmt::format("<figcaption>{}</figcaption>", escaped(caption));
  }
  elements_ += "</figure>\n";
  if (!numbers.rows.empty()) {
    begin_folded("Numbers");
    add(numbers);
    end_folded();
  }
}

void section::begin_card(std::string_view title) {
  elements_ += fmt::format("<article>\n<h3>{}</h3>\n", escaped(title));
  in_card_ = true;
}

void section::end_card() {
  elements_ += "</article>\n";
  in_card_ = false;
}

void section::begin_folded(std::string_view title) {
  elements_ += fmt::format("<details><summary>{}</summary>\n", escaped(title));
}

void section::end_folded() {
  elements_ += "</details>\n";
}

} // namespace nodewise::html
