// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What this process may use: the processors and nodes, and the limits that control groups set, its
// own group and those above it, in version 1 or 2.
#pragma once

#include <optional>

#include <nodewise/id_set.hpp>

#include "sys/kernel.hpp"

namespace nodewise::doctor {

/// The lowest limit of this process's memory control group and of those above it.
struct memory_limit {
  bool readable = false;
  std::optional<unsigned long long> bytes; ///< nullopt if there is no limit
  /// What the group nearest to its limit may still allocate, at most the limit; nullopt if no group
  /// has a limit, or none reports its use. Page cache charged to the group counts as room, since
  /// the kernel evicts it before it refuses memory (memory.stat, in the kernel's
  /// admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst), but only if memory.stat can be read.
  std::optional<unsigned long long> room_bytes;
};
[[nodiscard]] memory_limit read_memory_limit(sys::kernel& from);

/// The lowest limit on processor time of the group and of those above it.
struct cpu_quota {
  bool readable = false;
  /// Processor time as a number of processors; nullopt if there is no limit.
  std::optional<double> processors;
};
[[nodiscard]] cpu_quota read_cpu_quota(sys::kernel& from);

/// The processors and nodes that the nearest group with a cpuset allows; nullopt: no such group, or
/// it could not be read.
struct cpuset {
  std::optional<cpu_set> cpus;
  std::optional<node_set> nodes;
};
[[nodiscard]] cpuset read_cpuset(sys::kernel& from);

/// The processors and nodes of the machine, and those that this process may use. nullopt: could not
/// be read.
struct allowance {
  std::optional<cpu_set> cpus_online;
  std::optional<node_set> nodes_online;
  std::optional<node_set> nodes_with_memory;
  std::optional<node_set> nodes_with_cpus;
  /// Only processors and nodes that are online: Linux also lists those that could be plugged in.
  std::optional<cpu_set> cpus_allowed;
  std::optional<node_set> nodes_allowed;
  cpuset group; ///< what the control group allows, online ones only

  /// The nodes on which this process may allocate memory; nullopt if unknown.
  [[nodiscard]] std::optional<node_set> usable_nodes() const;
  /// Whether there is more than one usable node; unknown counts as several.
  [[nodiscard]] bool several_nodes() const;
};

[[nodiscard]] allowance read_allowance(sys::kernel& from);

} // namespace nodewise::doctor
