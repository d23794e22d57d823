// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/task_policy.hpp"

#include <array>

namespace nodewise::sys {

answer<task_policy> read_task_policy() {
  constexpr std::size_t most_nodes = 1024; // Linux supports no more
  std::array<unsigned long, most_nodes / node_set::word_bits> mask{};
  int mode = 0;
  const long refused = raw::get_mempolicy(&mode, mask.data(), mask.size(), nullptr, 0);
  if (refused < 0) {
    return {{}, static_cast<int>(-refused)};
  }
  task_policy found{static_cast<policy>(mode), {}, node_id{}};
  for (std::size_t bit = 0; bit < most_nodes; ++bit) {
    if ((mask[bit / node_set::word_bits] >> (bit % node_set::word_bits) & 1UL) != 0) {
      found.nodes.insert(node_id{static_cast<int>(bit)});
    }
  }
  int next = 0;
  if (raw::get_mempolicy(&next, nullptr, 0, nullptr, get_node) == 0) {
    found.next_node = node_id{next};
  }
  return {found, 0};
}

} // namespace nodewise::sys
