// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// `nodewise/measurement/1` of docs/formats.md, but for its envelope.
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "measure/measurement.hpp"
#include "topology/json_field.hpp"

namespace nodewise::measure {

inline constexpr std::string_view measurement_schema = "nodewise/measurement/1";

/// Appends all fields to those of an envelope.
void write_measurement(const measurement& what, nlohmann::ordered_json& into);

/// Checks every field that it reads, and computes the figures anew from the samples. Throws `error`
/// (input) that names the wrong field.
[[nodiscard]] measurement read_measurement(const json_field& document);

} // namespace nodewise::measure
