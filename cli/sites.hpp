// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What `run` can do in nodewise-tool alone: line tables of the program to start, plan files, and
// all that hwloc knows of the machine. The small launcher leaves command lines that need it to
// nodewise-tool.
#pragma once

#include <functional>
#include <string>

#include <nodewise/topology.hpp>

#include "launch/agent_report.hpp"
#include "launch/run_options.hpp"

namespace nodewise::cli {

/// "solver.c:41" for where an object was asked for; empty where nobody knows.
using site_namer = std::function<std::string(const launch::object_report&)>;

/// The machine as these options need it: kinds of memory are hwloc's to tell.
[[nodiscard]] topology machine_for(const launch::run_options& options);

/// Reads the file of --plan or --plan-optional, if there is one, into the options. Throws `error`
/// (input) for a file that is missing or broken; of --plan-optional it becomes a note unless
/// --strict is given.
void read_plan(launch::run_options& options);

[[nodiscard]] launch::site_finder make_site_finder();
[[nodiscard]] launch::build_id_reader make_build_id_reader();
/// Asks the program's loader, which lists them without running the program.
[[nodiscard]] launch::library_finder make_library_finder();
/// For the program in this file.
[[nodiscard]] site_namer make_site_namer(const std::string& program_file);

} // namespace nodewise::cli
