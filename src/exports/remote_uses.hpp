// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What each thread used of an object from the memory of another node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profile/places.hpp"

namespace nodewise::exports {

struct remote_use {
  profile::thread_index by = 0;
  node_id from = unknown_node; ///< the node whose memory was used
  double amount = 0;           ///< used and written back, in the program's unit of use
};

/// Ascending by thread and node. Within a run of pages with the same users, all pages are used
/// equally. Uses whose thread or page has no known node are left out.
[[nodiscard]] std::vector<remote_use> remote_uses_of(const profile::object& what,
                                                     const profile::thread_places& threads);

/// The amounts as whole numbers whose sum is that of the amounts, rounded: each is rounded down,
/// and those with the largest rest are rounded up. An amount above 2^53 counts as 2^53.
[[nodiscard]] std::vector<std::int64_t> whole_parts(std::span<const double> amounts);

} // namespace nodewise::exports
