// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/error_text.hpp"

#include <fmt/core.h>

#include "base/printable.hpp"
#include "report/wrap.hpp"

namespace nodewise::report {

namespace {

/// Makes text printable: messages hold names of files and programs.
std::string shown(std::string_view text) {
  return printable(text, kept_controls::newlines);
}

} // namespace

std::string error_text(const error& what, const style& how, std::string_view program) {
  constexpr std::string_view label = "    hint: ";
  const std::string text =
      fmt::format("{} {} {}", paint(how, tone::bad, fmt::format("{}:", program)),
                  paint(how, tone::strong, shown(what.asked()) + ":"), shown(what.answered()));
  const std::string hint =
      what.hint().empty() ? ""
                          : fmt::format("{}{}\n", paint(how, tone::accent, label),
                                        wrap_on_terminal(shown(what.hint()), how, label.size()));
  return fmt::format("{}\n{}", wrap_on_terminal(text, how, label.size()), hint);
}

std::string warning_text(std::string_view what, const style& how, std::string_view program) {
  const std::string label = fmt::format("{}: warning: ", program);
  return wrap_on_terminal(paint(how, tone::warning, label) + shown(what), how, 4) + "\n";
}

} // namespace nodewise::report
