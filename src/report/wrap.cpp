// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/wrap.hpp"

#include "base/joined.hpp"
#include "base/split.hpp"

namespace nodewise::report {

namespace {

void wrap_paragraph(std::string_view text, std::size_t width, std::vector<std::string>& lines) {
  std::string line;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) {
      continue;
    }
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    line.append(line.empty() ? "" : " ").append(word);
  }
  lines.push_back(std::move(line));
}

std::string spaces_up_to(std::string_view text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return std::string(width > taken ? width - taken : 0, ' ');
}

} // namespace

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string_view paragraph : split(text, '\n')) {
    wrap_paragraph(paragraph, width, lines);
  }
  return lines;
}

std::string wrap_indented(std::string_view text, std::size_t width, std::size_t indent) {
  return joined(wrap(text, width > indent ? width - indent : 1), "\n" + std::string(indent, ' '));
}

std::string wrap_on_terminal(std::string_view text, const style& how, std::size_t indent) {
  return how.terminal ? wrap_indented(text, how.width, indent) : std::string(text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  return std::string(text) + spaces_up_to(text, width);
}

std::string pad_left(std::string_view text, std::size_t width) {
  return spaces_up_to(text, width) + std::string(text);
}

} // namespace nodewise::report
