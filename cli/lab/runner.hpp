// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The lab's runner is a separate Python program; these functions start it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nodewise/machine.hpp>
#include <nodewise/topology.hpp>

#include "cli/frame/invocation.hpp"
#include "cli/frame/paths.hpp"

namespace nodewise::cli {

/// A file name under which the runner can read the machine in its normal form. It is an unnamed
/// file that the runner inherits, so nothing is left behind. Throws `error` (system).
[[nodiscard]] std::string machine_file_for_runner(const machine& what);

/// The runner's options for --on-timeout, --on-thp, ...
[[nodiscard]] std::vector<std::string> runner_options(const invocation& given);

/// The Python interpreter: the distribution's if it is new enough, because a version manager's
/// wrapper takes longer to start than a virtual machine.
[[nodiscard]] std::string python_for_lab();

/// The machines that --on names: one, or the hosts of a cluster (lab:4x2+4x2). Throws `error`
/// (usage, input).
[[nodiscard]] std::vector<topology> hosts_of_on(const invocation& given, const paths& from);

/// The one machine that --on names. Throws `error` (usage, input), also for a cluster.
[[nodiscard]] topology machine_of_on(const invocation& given, const paths& from);

/// The plan is read inside the machine, from the user's files. Before the machine starts, this
/// throws `error` (usage) for a file under /proc, /dev, /sys or /run, which are the machine's own,
/// and (input) if a --plan file cannot be followed.
void check_plan_for_lab(const invocation& given);

/// The runner's words for these hosts: a machine, or the hosts of a cluster.
[[nodiscard]] std::vector<std::string> host_words(std::span<const topology> hosts);

/// "run --machine ... --": the runner's own arguments for --on on this machine; the command
/// follows. With `grace_seconds`, a command that reaches the time limit is asked to end and has
/// this long to do so.
[[nodiscard]] std::vector<std::string> runner_words(const invocation& given, const machine& what,
                                                    const char* grace_seconds = nullptr);

/// The same for a cluster of these hosts; the command runs on the first.
[[nodiscard]] std::vector<std::string> runner_words(const invocation& given,
                                                    std::span<const topology> hosts,
                                                    const char* grace_seconds = nullptr);

/// The runner's arguments, then the command inside the machine: `nodewise` with these arguments.
[[nodiscard]] std::vector<std::string> with_command(std::vector<std::string> runner,
                                                    const paths& from,
                                                    const std::vector<std::string>& inside);

/// Replaces this process with the runner. Throws `error` (system) if it cannot be started.
[[noreturn]] void start_runner(const paths& from, std::vector<std::string> arguments);

} // namespace nodewise::cli
