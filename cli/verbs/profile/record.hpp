// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Records a profile of a program or of a running process.
#pragma once

#include <nodewise/topology.hpp>

#include "cli/frame/invocation.hpp"
#include "launch/plan.hpp"
#include "profile/profile.hpp"
#include "sys/child.hpp"

namespace nodewise::cli {

struct recorded_profile {
  profile::profile what;
  sys::child_end end;                ///< of the program, if one was started
  std::vector<std::string> warnings; ///< problems during the recording
};

/// Runs the plan's program with the agent in trace mode. If the kernel refuses to sample page
/// faults, the profile has only the agent's records and says so; under --strict the program then
/// does not run. In the child process, exceptions of `apply` and `become` leave this function.
[[nodiscard]] recorded_profile record_program(const launch::plan& what, const topology& here,
                                              const invocation& given);

/// Watches a running process, without the agent.
[[nodiscard]] recorded_profile record_process(int pid, const topology& here,
                                              const invocation& given);

} // namespace nodewise::cli
