// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The help of `help`, and of `internal`.
#pragma once

#include "cli/verbs/help_parts.hpp"

namespace nodewise::cli {

inline constexpr std::array help_examples = {
    example{"nodewise help run", "print the same as nodewise run --help"},
};
inline constexpr std::array internal_examples = {
    example{"nodewise internal man run", "print the manual page of a verb as roff"},
    example{"nodewise internal completion bash", "print the completion script: bash, zsh or fish"},
};

inline constexpr verb help_verb{
    .name = "help",
    .summary = "print the help of a verb",
    .usage = "[VERB]",
    .description = "Prints the help of VERB, as nodewise VERB --help does; without VERB, the "
                   "list of verbs.",
    .flags = every_verb,
    .takes = operands::names,
    .examples = help_examples,
    .exit_codes = {}};
inline constexpr verb internal_verb{
    .name = "internal",
    .summary = "print manual pages and completion scripts for the build",
    .usage = "man [VERB] | man-pages DIRECTORY | completion SHELL",
    .description = "Not an interface: it may change without notice.",
    .flags = every_verb,
    .takes = operands::names,
    .examples = internal_examples,
    .exit_codes = {},
    .hidden = true};

} // namespace nodewise::cli
