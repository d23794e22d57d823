// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A plan as a file: `nodewise/plan/1` of docs/formats.md and docs/schemas/plan-1.json.
#pragma once

#include <filesystem>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "plan/plan.hpp"
#include "topology/json_field.hpp"

namespace nodewise::plans {

inline constexpr std::string_view schema = "nodewise/plan/1";

/// Appends the fields of the plan to an envelope.
void append(nlohmann::ordered_json& document, const plan_file& what);

/// Checks every field. Throws `error` (input) naming the field that is wrong.
[[nodiscard]] plan_file plan_from_json(const json_field& document);
/// The same for a file or a pipe; throws the same.
[[nodiscard]] plan_file read_plan(const std::filesystem::path& file);

} // namespace nodewise::plans
