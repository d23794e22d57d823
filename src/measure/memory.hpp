// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The memory that is measured, and what it turned out to be.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/region.hpp>

#include "measure/run.hpp"

namespace nodewise::measure {

/// Fresh memory on a node, or on several in turn by 2 MiB, as many on each as its weight. Throws
/// `error` where the kernel refuses and pages could be elsewhere.
[[nodiscard]] region take_memory(const bench& with, std::uint64_t bytes,
                                 std::span<const node_id> nodes,
                                 std::span<const std::uint32_t> weights, page_size pages);
[[nodiscard]] region take_memory(const bench& with, std::uint64_t bytes, node_id node,
                                 page_size pages);

/// Looks at touched memory once: the shares of it that are on their nodes and in huge pages.
/// `unavailable` where a hundredth or more is elsewhere, since such a figure would be of nothing.
void look_at_memory(const bench& with, std::span<const region> memory, outcome& into);

struct address_range {
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;
};
/// Of what is in memory of the mappings that meet any of the ranges, the share in transparent huge
/// pages, 0..1; by /proc/self/smaps. Nothing where it does not tell, or nothing is in memory.
[[nodiscard]] std::optional<double> share_in_huge_pages(std::string_view smaps,
                                                        std::span<const address_range> ranges);

} // namespace nodewise::measure
