// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How every JSON result of Nodewise opens (docs/formats.md). A result that does not say on which
// machine and under which settings it was taken cannot be compared with another.
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

/// The value, or "unavailable": never a number that nobody read.
[[nodiscard]] nlohmann::ordered_json or_unavailable(std::optional<bool> value);
[[nodiscard]] nlohmann::ordered_json or_unavailable(std::optional<int> value);
[[nodiscard]] nlohmann::ordered_json or_unavailable(std::optional<std::uint64_t> value);
[[nodiscard]] nlohmann::ordered_json or_unavailable(std::optional<double> value);
[[nodiscard]] nlohmann::ordered_json or_unavailable(const std::optional<std::string>& value);

/// As it is written to a file or a pipe: indented, with a final newline. Bytes that are no UTF-8
/// (a file name may hold any) become U+FFFD, control characters become escapes.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value);

} // namespace nodewise::report
