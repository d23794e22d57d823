// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the help of several verbs has in common.
#pragma once

#include "cli/frame/registry.hpp"

namespace nodewise::cli {

// Exit codes that --on adds to a verb that starts no program of the user.
inline constexpr std::array<verb_exit, 3> codes_of_on = {
    {{exit_code::time_limit},
     {exit_code::not_started, "with --on, the virtual machine failed"},
     {exit_code::signal_base, "signal N ended nodewise"}}};
// Those of a verb that starts a program.
inline constexpr std::array<verb_exit, 5> codes_of_program = {{{exit_code::time_limit},
                                                               {exit_code::not_started},
                                                               {exit_code::not_executable},
                                                               {exit_code::not_found},
                                                               {exit_code::signal_base}}};

inline constexpr std::array every_verb = {&flags::color, &flags::help, &flags::version};
inline constexpr std::array on_a_machine = {
    &flags::on,         &flags::on_timeout, &flags::on_thp, &flags::on_numa_balancing,
    &flags::on_overlay, &flags::on_disk,    &flags::on_caps};
// A picture goes to the terminal here: not into a file, nor out of a virtual machine.
inline constexpr std::array<excluded_pair, 2> picture_excludes = {
    {{&flags::picture, &flags::output}, {&flags::picture, &flags::on}}};

} // namespace nodewise::cli
