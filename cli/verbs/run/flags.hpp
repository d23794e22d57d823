// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The forms of the result of `nodewise run`.
#pragma once

#include "cli/start/flags.hpp"

namespace nodewise::cli {

struct run_result; // in result.hpp
/// `nodewise/run/1`.
[[nodiscard]] std::string run_json(const run_result& result);

inline constexpr std::array run_forms = {form<run_result>{&flags::json, run_json}};

} // namespace nodewise::cli
