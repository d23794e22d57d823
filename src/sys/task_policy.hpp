// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sys/kernel.hpp"

namespace nodewise::sys {

/// The memory policy of the calling thread.
struct task_policy {
  policy mode = policy::system_default;
  node_set nodes;                ///< as the kernel stores them: those that the cpuset allows
  node_id next_node = node_id{}; ///< where an interleaving policy puts the next page; 0 for others
};

[[nodiscard]] answer<task_policy> read_task_policy();

} // namespace nodewise::sys
