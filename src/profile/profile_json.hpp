// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A profile as JSON: the fields after the envelope of `nodewise/profile/2` (docs/formats.md).
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "profile/profile.hpp"
#include "topology/json_field.hpp"

namespace nodewise::profile {

inline constexpr std::string_view schema = "nodewise/profile/2";
inline constexpr std::string_view older_schema = "nodewise/profile/1"; ///< is read, too

/// Appends the fields of the profile to an envelope.
void append(nlohmann::ordered_json& document, const profile& what);

/// Checks every field. Throws `error` (input) naming the field that is wrong.
[[nodiscard]] profile profile_from_json(const json_field& document);

} // namespace nodewise::profile
