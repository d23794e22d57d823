// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Comma-separated values (RFC 4180): the one writer of all verbs that print them.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nodewise::report {

/// A value of a row. An empty optional and a number that is not finite are unknown, and an empty
/// field.
struct csv_field {
  std::string text; ///< as it is written, with quotes if it needs them

  /// Control characters and bytes that are not UTF-8 become escapes (`printable`), so that a field
  /// stays on one line.
  csv_field(std::string_view content);
  csv_field(const std::string& content) : csv_field(std::string_view(content)) {}
  csv_field(const char* content) : csv_field(std::string_view(content)) {}
  /// With all digits that the number needs to be read again as the same one.
  csv_field(double number);
  template <std::integral Number> // so that no pointer becomes a bool
  csv_field(Number number) {
    if constexpr (std::same_as<Number, bool>) {
      text = number ? "true" : "false";
    } else {
      text = std::to_string(number);
    }
  }
  template <class Value>
  csv_field(const std::optional<Value>& value) : text(value ? csv_field(*value).text : "") {}
};

/// One line, with its newline. All lines of a file have as many fields as its first line, which
/// names them.
[[nodiscard]] std::string csv_line(const std::vector<csv_field>& fields);

} // namespace nodewise::report
