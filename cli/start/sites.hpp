// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The parts of `run` that only nodewise-tool has: line tables of the program to start, plan files,
// and hwloc's knowledge of the machine. The small launcher leaves command lines that need them to
// nodewise-tool.
#pragma once

#include <functional>
#include <string>

#include <nodewise/topology.hpp>

#include "launch/agent_report.hpp"
#include "launch/run_options.hpp"

namespace nodewise::cli {

/// "solver.c:41" for the allocation site of an object; empty if it is unknown.
using site_namer = std::function<std::string(const launch::object_report&)>;

/// The machine as these options need it: only hwloc knows the kinds of memory.
[[nodiscard]] topology machine_for(const launch::run_options& options);

/// Adds what must be read from files: line tables, libraries, measured weights, and the file of
/// --plan or --plan-optional. Throws `error` (input) if that file is missing or broken; for
/// --plan-optional that becomes a note unless --strict is given.
void complete(launch::run_options& options);

/// Makes the namer for the program in this file.
[[nodiscard]] site_namer make_site_namer(const std::string& program_file);

} // namespace nodewise::cli
