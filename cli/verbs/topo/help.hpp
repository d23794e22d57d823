// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The help of `topo`: its options, examples and exit codes.
#pragma once

#include "cli/verbs/help_parts.hpp"
#include "cli/verbs/topo/flags.hpp"

namespace nodewise::cli {

inline constexpr auto topo_flags = join(
    std::array<flag_list, 2>{&flags::input, &flags::costs}, flags_of<topo_forms, &flags::xml>(),
    std::array<flag_list, 1>{&flags::output}, on_a_machine, every_verb);
inline constexpr std::array topo_examples = {
    example{"nodewise topo", "draw this machine and what this process may use of it"},
    example{"nodewise topo --picture",
            "draw it as a picture, in a terminal that can (Kitty, iTerm2, Sixel)"},
    example{"nodewise topo --input lab:4x2", "draw a machine of 4 nodes with 2 cores each"},
    example{"nodewise topo -i cluster-node.xml --json",
            "print a machine recorded by lstopo as JSON"},
    example{"nodewise topo --xml -o node.xml",
            "write the topology for lstopo, MPI launchers and other users of hwloc"},
    example{"nodewise topo -i node.xml --costs node.json --xml -o costs.xml",
            "add the bandwidths and latencies that `nodewise measure -o node.json` measured there; "
            "`lstopo --memattrs` prints them"},
    example{"nodewise topo --on lab:4x2",
            "draw what a program sees in a virtual machine, with its smaller memory"},
};
inline constexpr auto topo_codes =
    join(std::array<verb_exit, 2>{{{exit_code::bad_input}, {exit_code::refused}}}, codes_of_on);

inline constexpr verb topo_verb{
    .name = "topo",
    .summary = "draw the machine and what this process may use of it",
    .usage = "[options]",
    .description = "Draws nodes, packages, cores and distances, and bandwidths and latencies if "
                   "they are known. Processors and nodes have the numbers of the operating system "
                   "(P#), as in numactl -H; nodes also have hwloc's (L#). Marks processors and "
                   "nodes that this process may not use (control group, affinity).",
    .flags = topo_flags,
    .excludes = picture_excludes,
    .examples = topo_examples,
    .exit_codes = topo_codes,
    .has_page = true};

} // namespace nodewise::cli
