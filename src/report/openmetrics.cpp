// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/openmetrics.hpp"

#include <fmt/core.h>

#include "base/text.hpp"

namespace nodewise::report {

namespace {

/// Between quotes. No control character is left after `printable`.
std::string escaped_label(std::string_view value) {
  std::string text;
  for (const char each : printable(value)) {
    if (each == '\\' || each == '"') {
      text += '\\';
    }
    text += each;
  }
  return text;
}

} // namespace

void exposition::begin(const metric_family& next) {
  now_ = next;
  begun_ = false;
}

void exposition::add(const metric_labels& labels, double value) {
  add_text(labels, fmt::format("{}", value));
}

void exposition::add_text(const metric_labels& labels, std::string_view value) {
  const bool counts = now_.type == metric_type::counter;
  if (!begun_) {
    begun_ = true;
    text_ += fmt::format("# TYPE {} {}\n", now_.name, counts ? "counter" : "gauge");
    text_ += now_.unit.empty() ? "" : fmt::format("# UNIT {} {}\n", now_.name, now_.unit);
    text_ += fmt::format("# HELP {} {}\n", now_.name, escaped_label(now_.help));
  }
  const std::string all = joined(labels, ",", [](const auto& each) {
    return fmt::format("{}=\"{}\"", each.first, escaped_label(each.second));
  });
  text_ += fmt::format("{}{}{} {}\n", now_.name, counts ? "_total" : "",
                       all.empty() ? "" : "{" + all + "}", value);
}

} // namespace nodewise::report
