// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Options that only lab has.
#pragma once

#include "cli/frame/flags.hpp"

namespace nodewise::cli::flags {

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

} // namespace nodewise::cli::flags
