// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <nodewise/machine.hpp>

#include "profile/profile.hpp"
#include "sys/kernel.hpp"

namespace nodewise::cli {

/// How much memory each node has now, and how much of it is free or holds cached files, from
/// /sys/devices/system/node. Nodes that do not report it are left out.
[[nodiscard]] std::vector<profile::node_memory> read_node_memory(const machine& on,
                                                                 sys::kernel& from);
/// Pages that the kernel's NUMA balancing has migrated since boot, from /proc/vmstat; 0 if the
/// kernel does not count them.
[[nodiscard]] std::uint64_t read_migrated_pages(sys::kernel& from);
/// Reads the nodes' memory again; `fullest` keeps the values from when a node had the least free.
void look_again(std::vector<profile::node_memory>& all, const machine& on, sys::kernel& from);

} // namespace nodewise::cli
