// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The lines of a race's log.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "topology/json_field.hpp"
#include "tune/log_events.hpp"

namespace nodewise::tune {

/// The first line. Throws `error` (input) if `machine` or `program` is not JSON.
[[nodiscard]] nlohmann::ordered_json header_json(const log_header& header);
[[nodiscard]] nlohmann::ordered_json event_json(const log_event& event);

/// In one line, with its end. Bytes that are not UTF-8 (a file name may hold any) become U+FFFD.
[[nodiscard]] std::string json_line(const nlohmann::ordered_json& value);

/// Throws `error` (input) that names the wrong field.
[[nodiscard]] log_header header_from_json(const nlohmann::ordered_json& document,
                                          const std::string& asked);
/// `candidates`: how many there are.
[[nodiscard]] log_event event_from_json(const json_field& field, std::size_t candidates);

} // namespace nodewise::tune
