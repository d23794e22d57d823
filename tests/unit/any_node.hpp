// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <nodewise/id.hpp>

#include "sys/kernel.hpp"

namespace nodewise::test {

/// A node of this machine that has memory: that of the calling thread's stack.
inline node_id any_node() {
  std::byte here{};
  const auto node = sys::real_kernel().node_of_page(&here);
  return node ? node.value : node_id{0};
}

} // namespace nodewise::test
