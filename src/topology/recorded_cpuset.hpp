// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a process may use: from /proc/self/status if it is running, from its cgroup if recorded.
#pragma once

#include <optional>
#include <string>

#include <nodewise/id_set.hpp>

namespace nodewise::topology_detail {

/// nullopt: nothing is recorded, so everything is allowed.
struct allowance {
  std::optional<cpu_set> cpus;
  std::optional<node_set> nodes;
};

/// `Cpus_allowed_list` and `Mems_allowed_list`: the cgroup's cpuset and the affinity mask combined,
/// as the kernel applies them. `prefix` is the root without its final slash.
[[nodiscard]] allowance allowance_from_status(const std::string& prefix);

/// From the cpuset files of the recorded cgroup (v2, v1, or the cpuset file system before them).
[[nodiscard]] allowance allowance_from_cgroup(const std::string& prefix);

} // namespace nodewise::topology_detail
