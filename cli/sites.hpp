// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What `run` can do in nodewise-tool alone: line tables of the program to start, and all that hwloc
// knows of the machine. The small launcher leaves command lines that need it to nodewise-tool.
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

/// Nothing in the launcher.
[[nodiscard]] launch::site_finder make_site_finder();
/// For the program in this file. Nothing in the launcher.
[[nodiscard]] site_namer make_site_namer(const std::string& program_file);

} // namespace nodewise::cli
