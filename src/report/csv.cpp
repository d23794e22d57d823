// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/csv.hpp"

#include <cmath>

#include <fmt/core.h>

#include "base/text.hpp"

namespace nodewise::report {

csv_field::csv_field(std::string_view content) : text(printable(content)) {
  if (text.find_first_of(",\"") != std::string::npos) {
    text = fmt::format("\"{}\"", joined(split(text, '"'), "\"\""));
  }
}

csv_field::csv_field(double number)
    : text(std::isfinite(number) ? fmt::format("{}", number) : "") {}

std::string csv_line(const std::vector<csv_field>& fields) {
  return joined(fields, ",", &csv_field::text) + "\n";
}

} // namespace nodewise::report
