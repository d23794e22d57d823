// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a process may use: the running one by /proc/self/status, a recorded one by its cgroup.
#pragma once

#include <optional>
#include <string>

#include <nodewise/id_set.hpp>

namespace nodewise::topology_detail {

/// nullopt: nobody says, so everything.
struct allowance {
  std::optional<cpu_set> cpus;
  std::optional<node_set> nodes;
};

/// `Cpus_allowed_list` and `Mems_allowed_list`: the cgroup's cpuset and the affinity mask in one,
/// as the kernel itself applies them. `prefix` is the root without its final slash.
[[nodiscard]] allowance allowance_from_status(const std::string& prefix);

/// By the cpuset files of the recorded cgroup (v2, v1, or the cpuset file system before them).
[[nodiscard]] allowance allowance_from_cgroup(const std::string& prefix);

} // namespace nodewise::topology_detail
