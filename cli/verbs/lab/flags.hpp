// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Options that only lab has, and the forms of a check's result.
#pragma once

#include "cli/frame/flags.hpp"

namespace nodewise::cli {

namespace flags {

inline constexpr flag min_local{.name = "min-local",
                                .value = "SHARE",
                                .group = group::checks,
                                .help = "with `check`, fail if less than SHARE of the fetched "
                                        "cache lines came from the local node: 0.95 or 95%"};
inline constexpr flag max_imbalance{
    .name = "max-imbalance",
    .value = "RATIO",
    .group = group::checks,
    .help = "with `check`, fail if the traffic of the busiest memory is more than RATIO times the "
            "mean of all memories (1: all equal)"};
inline constexpr flag object{
    .name = "object",
    .value = "NAME",
    .kind = flag_kind::list,
    .group = group::selection,
    .help = "with `check`, select this static array, or memory allocated at FILE:LINE or in FILE "
            "(repeatable)"};
inline constexpr flag all{
    .name = "all", .group = group::selection, .help = "with `cache remove`, remove every entry"};

} // namespace flags

struct checked_traffic; // in traffic_check.hpp
/// `nodewise/traffic/1`, with the verdict as its field `check`.
[[nodiscard]] std::string check_json(const checked_traffic& what);
/// SARIF 2.1.0: one result for each expectation that failed.
[[nodiscard]] std::string check_sarif(const checked_traffic& what);

/// Of `check`; the other actions have JSON only.
inline constexpr std::array check_forms = {form<checked_traffic>{&flags::json, check_json},
                                           form<checked_traffic>{&flags::sarif, check_sarif}};

} // namespace nodewise::cli
