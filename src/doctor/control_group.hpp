// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What control groups leave to this process: of the one that it is in and those above it, in
// version 1 or 2.
#pragma once

#include <optional>

#include <nodewise/id_set.hpp>

#include "sys/kernel.hpp"

namespace nodewise::doctor {

/// Of the memory control group that this process is in and of those above it, the lowest limit.
struct memory_limit {
  bool readable = false;
  bool limited = false;
  unsigned long long bytes = 0; ///< if limited
  /// What the group nearest to its limit may still take, at most the limit; nothing where no group
  /// has one, or none says what it uses. Page cache that is charged to the group is room, since the
  /// kernel gives it up before it refuses memory (memory.stat, of the kernel's
  /// admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst); where that is not told, it is not.
  std::optional<unsigned long long> room_bytes;
};
[[nodiscard]] memory_limit read_memory_limit(sys::kernel& from);

/// How much processor time the group, or one above it, may have.
struct cpu_quota {
  bool readable = false;
  /// As many processors' worth; nothing where there is no limit.
  std::optional<double> processors;
};
[[nodiscard]] cpu_quota read_cpu_quota(sys::kernel& from);

/// What the nearest group with a cpuset allows; nullopt: no such group, or it could not be read.
struct cpuset {
  std::optional<cpu_set> cpus;
  std::optional<node_set> nodes;
};
[[nodiscard]] cpuset read_cpuset(sys::kernel& from);

} // namespace nodewise::doctor
