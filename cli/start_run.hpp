// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From the command line of `nodewise run` to a started program: what both executables do. What only
// nodewise-tool can do is handed in, so that the small executable links neither JSON nor line
// tables.
#pragma once

#include <functional>

#include <nodewise/topology.hpp>

#include "cli/invocation.hpp"
#include "launch/plan.hpp"
#include "launch/run_options.hpp"

namespace nodewise::cli {

/// The parts of a run that need more than the kernel's files. The default starts plain runs.
struct run_parts {
  /// Adds what reads files to the options: line tables, the plan, measured weights.
  std::function<void(launch::run_options&)> complete = {};
  /// The machine as these options need it; without it the machine of sysfs.
  std::function<topology(const launch::run_options&)> machine = {};
  /// Runs the program to its end, reports it and exits with its status.
  std::function<void(const launch::plan&, const topology&, const invocation&)> supervise = {};
};

/// Returns an exit code for a command line that starts nothing (--dry-run, --show, --hardware), and
/// does not return otherwise. Throws `error`, and `launch::not_started`.
int start_run(const invocation& given, const run_parts& parts = {});

/// Writes each to standard error, unless --quiet is given.
void warn(const std::vector<std::string>& warnings, const invocation& given);

} // namespace nodewise::cli
