// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Options that only topo has, and the forms of its result.
#pragma once

#include "cli/frame/flags.hpp"

namespace nodewise::cli {

namespace flags {

inline constexpr flag xml{.name = "xml",
                          .group = group::results,
                          .help = "print the machine as hwloc's XML, the format of lstopo",
                          .is_form = true};
inline constexpr flag costs{
    .name = "costs",
    .value = "FILE.json",
    .standard = "what `nodewise measure` saved; with --input, those of MACHINE",
    .group = group::input,
    .help = "read the machine's bandwidths and latencies from FILE.json: a machine file, or what "
            "`nodewise measure -o` wrote on that machine"};

} // namespace flags

struct shown_machine; // in view.hpp
/// `nodewise/topology/1`.
[[nodiscard]] std::string shown_machine_json(const shown_machine& what);

/// A picture.
[[nodiscard]] std::string shown_machine_svg(const shown_machine& what);

inline constexpr std::array topo_forms = {form<shown_machine>{&flags::json, shown_machine_json},
                                          form<shown_machine>{&flags::svg, shown_machine_svg},
                                          form<shown_machine>{&flags::picture, shown_machine_svg}};

} // namespace nodewise::cli
