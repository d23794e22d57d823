// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/memory_resource.hpp>

#include <map>
#include <mutex>

#include <nodewise/topology.hpp>

namespace nodewise::inline v0 {

namespace {

/// Allocates on one node. Small requests, of which a pool makes many, are cut from slabs, and the
/// resource keeps their memory; large ones are regions of their own.
class node_memory : public std::pmr::memory_resource {
 public:
  explicit node_memory(node_id node) : by_(node) {}

 private:
  static constexpr std::size_t slab_bytes = std::size_t{1} << 20;
  static constexpr std::size_t large_bytes = slab_bytes / 8;

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (bytes >= large_bytes) {
      return region(bytes, by_).detach();
    }
    const std::lock_guard lock(mutex_);
    std::size_t at = (used_ + alignment - 1) / alignment * alignment;
    if (slabs_.empty() || at + bytes > slab_bytes) {
      slabs_.emplace_back(slab_bytes, by_, place_options{strictness::prefer, page_size::base});
      at = 0;
    }
    used_ = at + bytes;
    return slabs_.back().data() + at;
  }
  void do_deallocate(void* start, std::size_t bytes, std::size_t) override {
    if (bytes >= large_bytes) {
      unmap_region(start, bytes);
    }
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  bound by_;
  std::mutex mutex_;
  std::vector<region> slabs_;
  std::size_t used_ = 0; ///< bytes of the last slab
};

struct node_pool {
  explicit node_pool(node_id node) : memory(node), pool(&memory) {}

  node_memory memory;
  std::pmr::synchronized_pool_resource pool;
};

} // namespace

std::pmr::memory_resource& resource_on(node_id node) {
  // Never destroyed: objects of static lifetime may still use it.
  static std::mutex& mutex = *new std::mutex;
  static auto& pools = *new std::map<node_id, node_pool>;
  const std::lock_guard lock(mutex);
  return pools.try_emplace(node, node).first->second.pool;
}

std::pmr::memory_resource& resource_blocked() {
  static auto& resource = *new placed_resource<blocked>([] {
    std::vector<node_id> owners;
    for (const domain& each : topology::from_sysfs("/", sysfs_detail::nodes).domains()) {
      owners.push_back(each.node);
    }
    return blocked(std::move(owners));
  }());
  return resource;
}

} // namespace nodewise::inline v0
