// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/frame/registry.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// What the command is for, in one line.
inline constexpr std::string_view command_summary = "place data and threads on NUMA machines";

/// `nodewise --help`: verbs, common options, exit codes.
[[nodiscard]] std::string command_help(const report::style& how);
/// `nodewise VERB --help`.
[[nodiscard]] std::string verb_help(const verb& of, const report::style& how);
/// The help for a command line without a verb.
[[nodiscard]] std::string short_help(const report::style& how);

/// Flags in the order of the table, by group.
struct flag_group {
  std::string_view name;
  std::vector<const flag*> members;
};
[[nodiscard]] std::vector<flag_group> groups_of(const verb& of);

/// The exit codes that a page lists: those of a verb, or all without one.
[[nodiscard]] std::vector<exit_code_row> exit_codes_of(const verb* of);

/// "-N, --cpunodebind NODES".
[[nodiscard]] std::string flag_heading(const flag& of);
/// The help of a flag with its default, "... (default: auto)": the text of the verb, or the general
/// one if it has none or is null.
[[nodiscard]] std::string flag_text(const flag& of, const verb* in);

} // namespace nodewise::cli
