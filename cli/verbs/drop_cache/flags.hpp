// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Options that only drop-cache has, and the forms of its result.
#pragma once

#include "cli/frame/flags.hpp"

namespace nodewise::cli {

namespace flags {

inline constexpr flag cache_nodes{.name = "nodes",
                                  .value = "NODES",
                                  .standard = "all that this process may use",
                                  .group = group::selection,
                                  .help = "empty the page cache of these nodes"};
inline constexpr flag drop_by{
    .name = "by",
    .value = "WAY",
    .choices = "auto|drop|files|pressure",
    .standard = "auto",
    .group = group::selection,
    .help = "empty it by: drop (write to /proc/sys/vm/drop_caches: all nodes, needs root), files "
            "(drop only the named files), pressure (allocate memory until it is evicted), auto "
            "(files if files are named; else drop if you are root and all nodes are selected; "
            "else pressure)"};

} // namespace flags

struct dropped_cache; // in view.hpp
/// `nodewise/drop-cache/1`.
[[nodiscard]] std::string drop_cache_json(const dropped_cache& what);

inline constexpr std::array drop_cache_forms = {form<dropped_cache>{&flags::json, drop_cache_json}};

} // namespace nodewise::cli
