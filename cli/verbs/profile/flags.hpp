// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `nodewise profile` that no other verb has, and the forms of its result.
#pragma once

#include "cli/frame/flags.hpp"

namespace nodewise::cli {

namespace flags {

inline constexpr flag duration{.name = "duration",
                               .value = "SECONDS",
                               .standard = "until the process ends",
                               .group = group::sampling,
                               .help = "with -p, observe the process for SECONDS"};
inline constexpr flag prove{
    .name = "prove",
    .group = group::plan,
    .help = "with --on, run the program again with the plan, and with other placements that may be "
            "better, and compare the counted traffic (default)"};
inline constexpr flag no_prove{
    .name = "no-prove", .group = group::plan, .help = "with --on, do not run the program again"};

} // namespace flags

struct reported_advice; // in result.hpp
/// `nodewise/advice/2`.
[[nodiscard]] std::string advice_json(const reported_advice& what);

inline constexpr std::array profile_forms = {form<reported_advice>{&flags::json, advice_json}};

} // namespace nodewise::cli
