// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Prints what `numactl --show` and `numactl --hardware` print, line by line, because scripts read
// it.
#pragma once

#include <string>

#include <nodewise/topology.hpp>

#include "sys/kernel.hpp"
#include "sys/task_policy.hpp"

namespace nodewise::cli {

/// The policy and processors of a thread, as the kernel reports them.
[[nodiscard]] std::string show_text(const topology& here, const cpu_set& affinity,
                                    const sys::task_policy& policy);

/// Nodes, their processors, sizes and free memory, and distances if they are known.
[[nodiscard]] std::string hardware_text(const topology& here, sys::kernel& kernel);

} // namespace nodewise::cli
