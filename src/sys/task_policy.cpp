// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/task_policy.hpp"

#include <array>

#include "sys/set_of.hpp"

namespace nodewise::sys {

answer<task_policy> read_task_policy() {
  constexpr std::size_t most_nodes = 1024; // Linux supports no more
  std::array<unsigned long, most_nodes / node_set::word_bits> mask{};
  int mode = 0;
  const long refused = raw::get_mempolicy(&mode, mask.data(), mask.size(), nullptr, 0);
  if (refused < 0) {
    return {{}, static_cast<int>(-refused)};
  }
  task_policy found{static_cast<policy>(mode), set_of<node_id>(mask), node_id{}};
  int next = 0;
  if (raw::get_mempolicy(&next, nullptr, 0, nullptr, get_node) == 0) {
    found.next_node = node_id{next};
  }
  return {found, 0};
}

} // namespace nodewise::sys
