// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/error_text.hpp"

#include "base/printable.hpp"
#include "report/wrap.hpp"

namespace nodewise::report {

namespace {

/// Wraps lines at the terminal's width; leaves them whole in a log file.
std::string broken(std::string_view text, const style& how, std::size_t indent) {
  return how.terminal ? wrap_indented(text, how.width, indent) : std::string(text);
}

/// Makes text printable: messages hold names of files and programs.
std::string shown(std::string_view text) {
  return printable(text, kept_controls::newlines);
}

} // namespace

std::string error_text(const error& what, const style& how, std::string_view program) {
  constexpr std::string_view label = "    hint: ";
  std::string text = paint(how, tone::bad, std::string(program) + ":") + " " +
                     paint(how, tone::strong, shown(what.asked()) + ":") + " " +
                     shown(what.answered());
  text = broken(text, how, label.size()) + "\n";
  if (!what.hint().empty()) {
    text += paint(how, tone::accent, label) + broken(shown(what.hint()), how, label.size()) + "\n";
  }
  return text;
}

std::string warning_text(std::string_view what, const style& how, std::string_view program) {
  const std::string label = std::string(program) + ": warning: ";
  return broken(paint(how, tone::warning, label) + shown(what), how, 4) + "\n";
}

} // namespace nodewise::report
