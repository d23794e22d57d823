// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The beginning of every JSON result of Nodewise (docs/formats.md). Results can be compared only if
// they record the machine and the settings.
#pragma once

#include <cstdint>
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

/// The value, or "unavailable": never an invented number.
[[nodiscard]] nlohmann::ordered_json or_unavailable(std::optional<bool> value);
[[nodiscard]] nlohmann::ordered_json or_unavailable(std::optional<int> value);
[[nodiscard]] nlohmann::ordered_json or_unavailable(std::optional<std::uint64_t> value);
[[nodiscard]] nlohmann::ordered_json or_unavailable(std::optional<double> value);
[[nodiscard]] nlohmann::ordered_json or_unavailable(const std::optional<std::string>& value);

/// The text for a file or a pipe: indented, with a final newline. Bytes that are not UTF-8 (a file
/// name may hold any) become U+FFFD, control characters become escapes.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value);

} // namespace nodewise::report
