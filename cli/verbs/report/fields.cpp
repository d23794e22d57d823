// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/fields.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

double amount_in(const json_field& field) {
  const double value = field.number();
  if (value < 0) {
    field.refuse("it is negative", "write a number from 0 up");
  }
  return value;
}

std::optional<double> known_amount_in(const json_field& field) {
  if (field.is_text() && field.text() == unavailable_cell) {
    return std::nullopt;
  }
  return amount_in(field);
}

std::vector<std::string> texts_in(const json_field& list) {
  std::vector<std::string> all;
  for (const json_field& each : list.elements()) {
    all.push_back(each.text());
  }
  return all;
}

std::string command_in(const json_field& list) {
  return joined(texts_in(list), " ", shell_word);
}

std::string machine_name_of(const machine& on) {
  return on.name.empty() ? "unnamed" : on.name;
}

void drop_column(html::table& of, std::size_t at) {
  const auto column = static_cast<std::ptrdiff_t>(at);
  of.columns.erase(of.columns.begin() + column);
  for (auto& row : of.rows) {
    row.erase(row.begin() + column);
  }
}

void drop_empty_columns(html::table& of) {
  for (std::size_t at = of.columns.size(); at-- > 0;) {
    if (std::ranges::all_of(of.rows, [&](const auto& row) { return row[at].empty(); })) {
      drop_column(of, at);
    }
  }
}

std::string bytes_words(double bytes) {
  constexpr double most = 9e18;
  return report::format_bytes(static_cast<unsigned long long>(std::clamp(bytes, 0.0, most)));
}

} // namespace nodewise::cli
