// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The beginning of every JSON result of Nodewise (docs/formats.md). Results can be compared only if
// they record the machine and the settings.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace nodewise::report {

/// `{"schema": "nodewise/<kind>/<version>", "nodewise": ..., "machine": ..., "settings": ...}`;
/// append the result to it.
[[nodiscard]] nlohmann::ordered_json envelope(std::string_view kind, int version,
                                              nlohmann::ordered_json machine,
                                              nlohmann::ordered_json settings);

// `Json` is a parameter of these templates because this header does not define the class. To call
// them, include <nlohmann/json.hpp>.

/// The value, or "unavailable": never an invented number.
template <class Value, class Json = nlohmann::ordered_json>
[[nodiscard]] Json or_unavailable(const std::optional<Value>& value) {
  return value ? Json(*value) : Json("unavailable");
}

/// Adds the field if there is a value: not an empty optional, text or list.
template <class Value, class Json>
void add_if_any(Json& into, const char* key, const Value& value) {
  if constexpr (requires { value.has_value(); }) {
    if (value) {
      into[key] = *value;
    }
  } else if (!value.empty()) {
    into[key] = value;
  }
}

/// An array of what `write` makes of each value.
template <class Values, class Write = std::identity, class Json = nlohmann::ordered_json>
[[nodiscard]] Json json_list(const Values& values, Write write = {}) {
  Json all = Json::array();
  for (const auto& each : values) {
    all.push_back(std::invoke(write, each));
  }
  return all;
}

/// The text for a file or a pipe: indented, with a final newline. Bytes that are not UTF-8 (a file
/// name may hold any) become U+FFFD, control characters become escapes.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value);

} // namespace nodewise::report
