// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/memory_needs.hpp"

#include <map>

#include <fmt/core.h>

#include <nodewise/error.hpp>

namespace nodewise::measure {

namespace {

/// The bytes by node that a point uses at one time.
class needs {
 public:
  explicit needs(const point& what) {
    std::visit([this](const auto& does) { add(does); }, what.work);
  }
  [[nodiscard]] const std::map<node_id, std::uint64_t>& by_node() const noexcept { return bytes_; }

 private:
  void add(const stream_work& does) {
    for (const stream_group& each : does.groups) {
      add(each);
    }
  }
  void add(const stream_group& group) {
    const std::uint64_t of_an_array = group.bytes / group.does->arrays;
    for (std::size_t k = 0; k < group.does->arrays; ++k) {
      const node_id own = k < group.array_nodes.size() ? group.array_nodes[k] : unknown_node;
      if (own != unknown_node) {
        bytes_[own] += of_an_array;
        continue;
      }
      for (const node_id node : group.memory) {
        bytes_[node] += of_an_array / group.memory.size();
      }
    }
  }
  void add(const chase_work& does) {
    // link_chain draws the successors in a separate array, which may be on the same node.
    bytes_[does.memory] += does.bytes + does.bytes / (line_bytes / sizeof(std::uint32_t));
    if (does.beside) {
      add(*does.beside);
    }
  }
  void add(const transfer_work&) {}
  void add(const touch_work& does) { bytes_[does.memory] += does.bytes; }
  void add(const migration_work& does) {
    bytes_[does.from] += does.bytes;
    bytes_[does.to] += does.bytes;
  }

  std::map<node_id, std::uint64_t> bytes_;
};

[[noreturn]] void refuse(const point& what, std::uint64_t bytes, std::string_view where,
                         std::uint64_t there) {
  throw error(
      error_kind::usage,
      fmt::format("{} MiB of buffers for {}: {}", bytes >> 20, to_string(what.of), what.label),
      fmt::format("{} has only {} MiB available", where, there >> 20),
      "use smaller buffers (--size, or the size in the workgroup), or free page cache with "
      "`nodewise drop-cache`");
}

} // namespace

void require_memory(const topology& on, std::span<const point> points,
                    const memory_to_have& memory) {
  const std::vector<memory_node>& nodes = on.machine().nodes;
  for (const point& each : points) {
    const needs all(each);
    std::uint64_t together = 0;
    for (const auto& [id, bytes] : all.by_node()) {
      together += bytes;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::uint64_t there = memory.of(nodes[i], i);
        if (nodes[i].id == id && nodes[i].memory_bytes != 0 && bytes > there) {
          refuse(each, bytes, fmt::format("node {}", id), there);
        }
      }
    }
    if (memory.together && together > *memory.together) {
      refuse(each, together, "this control group", *memory.together);
    }
  }
}

} // namespace nodewise::measure
