// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The lab's runner is a Python program of its own; this is how the command starts it.
#pragma once

#include <string>
#include <vector>

#include <nodewise/machine.hpp>
#include <nodewise/topology.hpp>

#include "cli/invocation.hpp"
#include "cli/paths.hpp"

namespace nodewise::cli {

/// A name under which the runner can read the machine in its normal form: an unnamed file that it
/// inherits, so that nothing is left behind. Throws `error` (system).
[[nodiscard]] std::string machine_file_for_runner(const machine& what);

/// What --on-timeout, --on-thp, ... mean to the runner.
[[nodiscard]] std::vector<std::string> runner_options(const invocation& given);

/// The interpreter: the distribution's where it is new enough, since a version manager's stand-in
/// takes longer to start than a virtual machine.
[[nodiscard]] std::string python_for_lab();

/// The machine that --on names. Throws `error` (usage, input).
[[nodiscard]] topology machine_of_on(const invocation& given, const paths& from);

/// A plan is read inside the machine, from the user's files: throws `error` for one that is not
/// there (usage), and for one of --plan that cannot be followed (input), before the machine starts.
void check_plan_for_lab(const invocation& given);

/// "run --machine ... --": the runner's own words for --on on this machine. The command follows.
/// With `grace_seconds` a command is asked to end at the time limit, and has so long to do it.
[[nodiscard]] std::vector<std::string> runner_words(const invocation& given, const machine& what,
                                                    const char* grace_seconds = nullptr);

/// Puts the runner in the place of this process. Throws `error` (system) if it cannot be started.
[[noreturn]] void start_runner(const paths& from, std::vector<std::string> arguments);

} // namespace nodewise::cli
