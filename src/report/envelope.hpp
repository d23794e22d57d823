// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How every JSON result of Nodewise opens (docs/formats.md). A result that does not say on which
// machine and under which settings it was taken cannot be compared with another.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace nodewise::report {

/// `{"schema": "nodewise/<kind>/<version>", "nodewise": ..., "machine": ..., "settings": ...}`;
/// append the result to it.
[[nodiscard]] nlohmann::ordered_json envelope(std::string_view kind, int version,
                                              nlohmann::ordered_json machine,
                                              nlohmann::ordered_json settings);

/// The value, or "unavailable": never a number that nobody read.
template <class T>
[[nodiscard]] nlohmann::ordered_json or_unavailable(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json("unavailable");
}

/// As it is written to a file or a pipe: indented, with a final newline. Bytes that are no UTF-8
/// (a file name may hold any) become U+FFFD.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value);

} // namespace nodewise::report
