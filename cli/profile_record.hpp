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

/// Runs the plan's program with its agent as a witness. Where the kernel refuses to sample page
/// faults the agent alone witnesses, which is said; under --strict nothing is run then. In the
/// child process, what `apply` and `become` throw leaves this function, too.
[[nodiscard]] recorded_profile record_program(const launch::plan& what, const topology& here,
                                              const invocation& given);

/// Watches a process that runs already, without an agent.
[[nodiscard]] recorded_profile record_process(int pid, const topology& here,
                                              const invocation& given);

} // namespace nodewise::cli
