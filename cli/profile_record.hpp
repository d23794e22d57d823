// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From a program, or a process that runs, to what was seen of it.
#pragma once

#include <nodewise/topology.hpp>

#include "cli/invocation.hpp"
#include "launch/plan.hpp"
#include "profile/profile.hpp"
#include "sys/child.hpp"

namespace nodewise::cli {

struct recorded_profile {
  profile::profile what;
  sys::child_end end;                ///< of the program, where one was started
  std::vector<std::string> warnings; ///< what went wrong meanwhile
};

/// Runs the plan's program with the agent in trace mode. If the kernel refuses to sample page
/// faults, the profile has the agent's records alone and says so; under --strict nothing runs then.
/// In the child process this function also lets pass what `apply` and `become` throw.
[[nodiscard]] recorded_profile record_program(const launch::plan& what, const topology& here,
                                              const invocation& given);

/// Watches a process that runs already, without an agent.
[[nodiscard]] recorded_profile record_process(int pid, const topology& here,
                                              const invocation& given);

} // namespace nodewise::cli
