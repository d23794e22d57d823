// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Memory resources that give std::pmr containers placed memory: maps, lists, strings, and the
// objects that own them.
//
//     #include <nodewise/topology.hpp>
//
//     const nodewise::node_id node = nodewise::topology::system().domains().front().node;
//     std::pmr::map<int, std::pmr::string> names(&nodewise::resource_on(node));
//     names[7] = "The map and its strings are in the memory of that node.";
//     std::pmr::vector<double> v(1 << 20, &nodewise::resource_blocked()); // over all nodes
#pragma once

#include <cstddef>
#include <memory_resource>
#include <utility>

#include <nodewise/region.hpp>

namespace nodewise::inline v0 {

/// Returns the memory resource of one node, pooled by size. Freed memory is reused only by the same
/// resource, so a page never changes its node. Any thread may use it; it lives as long as the
/// process. Allocation throws `error` (system) if memory runs out. If the node is full, pages come
/// from other nodes, which `query_residency` shows. Throws `error` (usage) if `node` is below 0.
[[nodiscard]] NODEWISE_API std::pmr::memory_resource& resource_on(node_id node);

/// A memory resource for a few large allocations. Each allocation has pages of its own, placed by a
/// distribution, which return to the kernel when it is freed.
template <distribution D>
class placed_resource : public std::pmr::memory_resource {
 public:
  /// Places memory by `by`. Allocations throw `error` (system) if memory for policies or mappings
  /// runs out.
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

/// Returns a `placed_resource` that places memory in equal blocks over the nodes on which this
/// process has processors. The first call reads the topology and may throw `error`.
[[nodiscard]] NODEWISE_API std::pmr::memory_resource& resource_blocked();

} // namespace nodewise::inline v0
