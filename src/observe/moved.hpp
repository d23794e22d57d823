// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which pages are on another node than before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "observe/area.hpp"

namespace nodewise::observe {

/// Consecutive base pages on one node.
struct placed_run {
  std::uint64_t first = 0; ///< the address divided by the size of a page
  std::uint64_t pages = 0;
  node_id node = unknown_node;
  friend bool operator==(const placed_run&, const placed_run&) = default;
};

/// The pages whose node is known. The mappings, and so the runs, are ascending by address.
[[nodiscard]] std::vector<placed_run> placed_runs(std::span<const located_mapping> mappings,
                                                  std::size_t page_bytes);

/// The number of pages that both have at the same address, on different nodes. A page that was
/// freed and requested again at its address counts, too.
[[nodiscard]] std::uint64_t moved_pages(std::span<const placed_run> before,
                                        std::span<const placed_run> now);

} // namespace nodewise::observe
