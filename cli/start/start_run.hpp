// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Starts a program from the command line of `nodewise run`; both executables use it. The parts that
// only nodewise-tool has are passed in, so that the small executable links neither JSON nor line
// tables.
#pragma once

#include <functional>

#include <nodewise/topology.hpp>

#include "cli/frame/invocation.hpp"
#include "launch/plan.hpp"
#include "launch/run_options.hpp"

namespace nodewise::cli {

/// The parts of a run that need more than the kernel's files. The default starts plain runs only.
struct run_parts {
  /// Adds to the options what must be read from files: line tables, the plan, measured weights.
  std::function<void(launch::run_options&)> complete = {};
  /// The machine as these options need it; if empty, the machine of sysfs.
  std::function<topology(const launch::run_options&)> machine = {};
  /// Runs the program to its end, reports it and exits with its status.
  std::function<void(const launch::plan&, const topology&, const invocation&)> supervise = {};
};

/// Returns the exit code for a command line that starts nothing (--dry-run, --show, --hardware);
/// otherwise does not return. Throws `error`, and `launch::not_started`.
int start_run(const invocation& given, const run_parts& parts = {});

/// Writes each warning to standard error, unless --quiet is given.
void warn(const std::vector<std::string>& warnings, const invocation& given);

/// Reads the options of `nodewise run`. Throws `error` (usage).
[[nodiscard]] launch::run_options read_run_options(const invocation& given);

} // namespace nodewise::cli
