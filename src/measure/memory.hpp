// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Allocates the memory that is measured, divides it among threads, and checks its nodes and page
// sizes.
#pragma once

#include <nodewise/region.hpp>

#include "measure/visit.hpp"

namespace nodewise::measure {

/// Allocates fresh memory on a node, or interleaved over several in blocks of 2 MiB, by weight.
/// Throws `error` if the kernel refuses and pages could be elsewhere.
[[nodiscard]] region take_memory(const bench& with, std::uint64_t bytes,
                                 std::span<const node_id> nodes,
                                 std::span<const std::uint32_t> weights, page_size pages);

/// What one thread does.
struct stream_part {
  const kernel* does = nullptr;
  operands with;

  /// Bytes that STREAM counts for one sweep over `some` of the part.
  [[nodiscard]] std::size_t counted_bytes(const operands& some) const noexcept {
    return does->accesses(some) * does->counted_bytes();
  }
};

/// Fresh arrays of all groups, not yet touched.
struct stream_arrays {
  std::vector<region> memory;
  std::vector<stream_part> parts; ///< by thread, in the order of the groups and their processors

  /// Staggers base addresses as `array` does: equal ones would share the same cache sets. Throws
  /// `error`: (usage) if a thread would have no element, else as `take_memory`.
  void add(const bench& with, const stream_group& group, page_size pages);
};

/// Records, once, the shares of touched memory that are on their nodes and in huge pages. Sets
/// `unavailable` if a hundredth or more is on other nodes: the figure would be meaningless.
void look_at_memory(const bench& with, std::span<const region> memory, outcome& into);

struct address_range {
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;
};
/// The share in transparent huge pages, 0..1, of the resident memory of all mappings that overlap
/// any of the ranges; by /proc/self/smaps. nullopt if it has no such line or nothing is resident.
[[nodiscard]] std::optional<double> share_in_huge_pages(std::string_view smaps,
                                                        std::span<const address_range> ranges);

} // namespace nodewise::measure
