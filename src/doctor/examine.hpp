// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Examines what is permitted and what prevents placement. Nothing here prints or decides an exit
// status.
#pragma once

#include <functional>
#include <map>

#include <nodewise/topology.hpp>

#include "bind/conflicts.hpp"
#include "doctor/allowance.hpp"
#include "doctor/finding.hpp"
#include "sys/process.hpp"

namespace nodewise::doctor {

/// The variables that `examine_environment` needs and that are set.
[[nodiscard]] bind::settings read_variables(environment get);

/// What is examined, besides the kernel that all folders share; a test replaces it.
struct surroundings {
  sys::kernel* kernel = nullptr;
  /// Opens and closes a counter of page faults in user space: 0 or errno.
  std::function<int()> open_fault_counter;
  /// Opens and closes a descriptor of user-space fault handling: 0 or errno.
  std::function<int()> open_userfaultfd;
  /// The path of a program, searched as a shell does.
  std::function<std::optional<std::string>(const std::string& name)> find_program;
  /// The variables that `read_variables` reads.
  bind::settings variables;
  /// The machine, with measured costs if there are any; nullopt: could not be read.
  std::optional<machine> here;
  unused_costs unused;

  /// Those of this system, without a machine: the caller reads it.
  [[nodiscard]] static surroundings of_this_system();
};

/// Tries every system call once, on separate memory and on a separate thread, so that the calling
/// program does not change. Never throws for a refusal: a refusal is a finding.
[[nodiscard]] std::vector<finding> try_calls(const surroundings& around);

/// Reads the settings that affect where pages and threads go. `perf_errno`: the result of
/// perf_event_open, if it was tried.
[[nodiscard]] std::vector<finding> examine_settings(sys::kernel& from,
                                                    std::optional<int> perf_errno = std::nullopt);

/// Examines the memory of each node, and the firmware's description of the nodes. `here`: the
/// machine, with measured costs if there are any; nullptr: could not be read. `unused`: why the
/// machine has no measured costs although there is a file of them.
[[nodiscard]] std::vector<finding> examine_state(sys::kernel& from, const machine* here,
                                                 const unused_costs& unused = {});

/// Compares the variables that place threads and memory with each other (bind/conflicts) and with
/// what this process may use. One finding a contradiction, with the variable that wins and the
/// fix; one good finding if there is none.
[[nodiscard]] std::vector<finding> examine_environment(sys::kernel& from,
                                                       const bind::settings& variables);

// The firmware's description of nodes and distances: arithmetic on a machine value.

/// Whether the machine has as many nodes as it should. `command_line`: the kernel's, "" if unknown.
[[nodiscard]] finding examine_nodes(const machine& of, std::string_view command_line);

/// Whether the distances distinguish nodes.
[[nodiscard]] finding examine_distances(const machine& of);

/// Two memories for which measured costs contradict the firmware: it says that one is nearer to the
/// processors of `from`, or that both are equally near.
struct contradiction {
  node_id from = unknown_node;
  node_id near = unknown_node; ///< by the firmware; if both are equally near, the costlier one
  node_id far = unknown_node;
  int near_distance = 0;
  int far_distance = 0;
  std::string name; ///< "latency", "bandwidth"
  std::string unit;
  double near_value = 0;
  double far_value = 0;
};

/// All contradictions of parameters named "latency" and "bandwidth" whose source begins with
/// "measured". A figure may be 10 % off: a difference that two such errors could explain is no
/// contradiction. The first of several figures for a pair of nodes counts.
[[nodiscard]] std::vector<contradiction> find_contradictions(const machine& of);

/// The same as a finding: unavailable if nothing was measured, or the measured costs are `unused`.
[[nodiscard]] finding examine_measured(const machine& of, const unused_costs& unused = {});

/// Whether this process may run on processors without permission to allocate on their own node.
[[nodiscard]] finding examine_reach(const machine& of, const allowance& may);

[[nodiscard]] examination examine(const surroundings& around);

/// Examines another process: what it may use, and its settings. Calls can be tried for the calling
/// process only, so they are unavailable. In the findings, "this process" is the other one. Uses
/// the kernel, the machine and its unused costs of `around`. Throws `error` (usage) if there is no
/// such process.
[[nodiscard]] examination examine_process(const surroundings& around, sys::process& of);

/// Examines a machine that is known from a file only. What the file lacks is unavailable.
[[nodiscard]] examination examine_recorded(const topology& what);

// Kernels for another process's view of the system, and for a machine that is known from a file
// only: they answer what can be known, and refuse everything else.

/// Reads /proc/self from the other process, and all other files from the system.
class process_kernel : public sys::kernel {
 public:
  process_kernel(sys::kernel& system, sys::process& of) : system_(system), process_(of) {}

  sys::answer<std::string> read_file(const char* path) override;
  /// The policy of its first thread: /proc/PID/numa_maps shows it for the stack, as for every
  /// mapping without a policy of its own.
  sys::answer<sys::policy> get_mempolicy() override;
  std::size_t base_page_bytes() override { return system_.base_page_bytes(); }
  std::size_t thp_bytes() override { return system_.thp_bytes(); }

 private:
  sys::kernel& system_;
  sys::process& process_;
};

/// Answers with the recorded nodes and processors, and with those that are allowed.
class recorded_kernel : public sys::kernel {
 public:
  explicit recorded_kernel(const topology& what);

  sys::answer<std::string> read_file(const char* path) override;

 private:
  std::map<std::string, std::string, std::less<>> files_;
};

} // namespace nodewise::doctor
