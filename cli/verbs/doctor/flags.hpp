// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The forms of the result of `nodewise doctor`.
#pragma once

#include "cli/frame/flags.hpp"

namespace nodewise::cli {

struct examined; // in view.hpp
/// `nodewise/doctor/1`.
[[nodiscard]] std::string doctor_json(const examined& what);

inline constexpr std::array doctor_forms = {form<examined>{&flags::json, doctor_json}};

} // namespace nodewise::cli
