// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/start.hpp"

#include <cerrno>
#include <cstdlib>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "launch/counted.hpp"
#include "launch/not_started.hpp"
#include "sys/execute.hpp"

namespace nodewise::launch {

namespace {

/// EPERM and ENOSYS come from a container's system call filter, other errors from the kernel.
std::string hint_for(int errno_value, const char* otherwise) {
  return errno_value == EPERM || errno_value == ENOSYS
             ? "a container's seccomp filter forbids it: run it with CAP_SYS_NICE, or with a "
               "profile that permits the call"
             : otherwise;
}

/// For newer policies, EINVAL means that the kernel does not have them.
const char* hint_for_policy(sys::policy mode) {
  switch (mode) {
  case sys::policy::weighted_interleave:
    return "the kernel's weights need Linux 6.9: give --memory weighted:0=3,1=1, which needs none, "
           "or interleave without weights";
  case sys::policy::preferred_many:
    return "several preferred nodes need Linux 5.15: name one";
  case sys::policy::bind_and_balance:
    return "balancing within --membind needs Linux 5.12: leave --balancing out";
  default:
    return "choose among the nodes that `nodewise topo` shows";
  }
}

const char* name_of(sys::policy mode) {
  switch (mode) {
  case sys::policy::bind:
  case sys::policy::bind_and_balance:
    return "bound to node ";
  case sys::policy::interleave:
    return "interleaved over node ";
  case sys::policy::preferred:
  case sys::policy::preferred_many:
    return "preferred on node ";
  case sys::policy::weighted_interleave:
    return "interleaved by weight over node ";
  case sys::policy::local:
  case sys::policy::system_default:
    break;
  }
  return "local";
}

void set_variables(const std::vector<variable>& variables) {
  for (const variable& each : variables) {
    const int failed = each.value ? ::setenv(each.name.c_str(), each.value->c_str(), 1)
                                  : ::unsetenv(each.name.c_str());
    if (failed != 0) {
      throw error(error_kind::system, fmt::format("the variable {}", each.name), "it was not set",
                  "free some memory", errno);
    }
  }
}

/// Makes the kernel place the program's first pages (its stack, what the loader writes) on the node
/// of thread 0. exec moves a process to an idle processor, and the main thread is bound later, so
/// the pages could be on any node. The agent ends this policy. If the kernel refuses, the pages
/// stay where they are.
void prefer_node_of_first_thread(const plan& what, sys::kernel& kernel) {
  if (!what.agent || !what.layout || what.memory) {
    return;
  }
  const node_id node = what.layout->threads().front().node;
  const auto now = kernel.get_mempolicy();
  if (node != unknown_node && now && now.value == sys::policy::system_default) {
    (void)kernel.set_mempolicy(sys::preferred_at_start, node_set{node});
  }
}

} // namespace

cpu_set widen_affinity(sys::kernel& kernel) {
  const auto before = kernel.get_affinity(0);
  // More than any machine has: the kernel uses those that exist and the cpuset allows.
  const cpu_set all = cpu_set::range(cpu_id{0}, cpu_id{(1 << 14) - 1});
  const int refused = before ? kernel.set_affinity(0, all) : before.errno_value;
  if (refused != 0) {
    throw error(error_kind::system, "all processors of the cpuset", "sched_setaffinity was refused",
                hint_for(refused, "leave --all out"), refused);
  }
  return before.value;
}

void apply(const plan& what, const std::string& report_file, sys::kernel& kernel) {
  if (what.affinity) {
    const int refused = kernel.set_affinity(0, *what.affinity);
    if (refused != 0) {
      throw error(error_kind::system, fmt::format("processors {}", what.affinity->to_string()),
                  "sched_setaffinity was refused",
                  hint_for(refused, "choose among those that `nodewise topo` shows as allowed"),
                  refused);
    }
  }
  if (what.memory) {
    const int refused = kernel.set_mempolicy(what.memory->mode, what.memory->nodes);
    if (refused != 0) {
      throw error(
          error_kind::system,
          fmt::format("memory {}{}", name_of(what.memory->mode), what.memory->nodes.to_string()),
          "set_mempolicy was refused", hint_for(refused, hint_for_policy(what.memory->mode)),
          refused);
    }
  }
  prefer_node_of_first_thread(what, kernel);
  set_variables(what.variables);
  if (what.agent) {
    set_variables(agent_variables(*what.agent, report_file));
  }
}

void throw_not_started(const std::string& program, int errno_value) {
  throw why_not_started(program, errno_value);
}

void become(const plan& what) {
  begin_counted_program();
  throw_not_started(what.command.front(), sys::execute(what.command));
}

} // namespace nodewise::launch
