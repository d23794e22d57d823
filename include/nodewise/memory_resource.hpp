// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Placed memory for everything that takes a std::pmr::memory_resource: maps, lists, strings, and
// the objects that own them.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <utility>

#include <nodewise/distribution.hpp>
#include <nodewise/export.hpp>
#include <nodewise/id.hpp>
#include <nodewise/region.hpp>

namespace nodewise::inline v0 {

/// Memory of one node, pooled by size. What is freed is given out again by the same resource only,
/// so a page never changes its node. Any thread may use it; it lives as long as the process.
/// Allocation throws `error` where memory runs out; where the node has none left, pages come from
/// others, which `query_residency` shows. Throws `error` (usage) for a number below 0.
[[nodiscard]] NODEWISE_API std::pmr::memory_resource& resource_on(node_id node);

/// Each allocation is pages of its own with a distribution, and goes back to the kernel when it is
/// freed: for few large ones.
template <distribution D>
class placed_resource : public std::pmr::memory_resource {
 public:
  /// Allocations throw `error` where memory for policies or mappings runs out.
  explicit placed_resource(D by, page_size pages = page_size::automatic)
      : by_(std::move(by)), pages_(pages) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t) override {
    region memory(bytes == 0 ? 1 : bytes, by_, {strictness::prefer, pages_});
    return memory.detach();
  }
  void do_deallocate(void* start, std::size_t bytes, std::size_t) override {
    unmap_region(start, bytes == 0 ? 1 : bytes);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  D by_;
  page_size pages_;
};

/// A `placed_resource` in equal blocks over the nodes of this process that have processors.
[[nodiscard]] NODEWISE_API std::pmr::memory_resource& resource_blocked();

} // namespace nodewise::inline v0
