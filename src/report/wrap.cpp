// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/wrap.hpp"

#include <algorithm>

#include "report/style.hpp"

namespace nodewise::report {

namespace {

void wrap_paragraph(std::string_view text, std::size_t width, std::vector<std::string>& lines) {
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
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
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    wrap_paragraph(text.substr(0, end), width, lines);
    if (end == text.size()) {
      return lines;
    }
    text.remove_prefix(end + 1);
  }
}

std::string wrap_indented(std::string_view text, std::size_t width, std::size_t indent) {
  std::string all;
  for (const std::string& line : wrap(text, width > indent ? width - indent : 1)) {
    all += all.empty() ? "" : "\n" + std::string(indent, ' ');
    all += line;
  }
  return all;
}

std::string pad_right(std::string_view text, std::size_t width) {
  return std::string(text) + spaces_up_to(text, width);
}

std::string pad_left(std::string_view text, std::size_t width) {
  return spaces_up_to(text, width) + std::string(text);
}

} // namespace nodewise::report
