// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The forms of the result of `nodewise run`.
#pragma once

#include "cli/start/flags.hpp"
#include "cli/start/start_run.hpp"

namespace nodewise::cli {

struct run_result; // in result.hpp
/// `nodewise/run/1`.
[[nodiscard]] std::string run_json(const run_result& result);

inline constexpr std::array run_forms = {form<run_result>{&flags::json, run_json}};

/// --for: prints the launcher's line with the same effect. Returns the exit code.
int print_launcher_line(const invocation& given, const launch::run_options& options,
                        const topology& here);

} // namespace nodewise::cli
