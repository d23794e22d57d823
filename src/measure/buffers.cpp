// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The sizes of buffers, and whether the memory for a point's buffers is available.
#include "measure/points.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

namespace nodewise::measure {

namespace {

constexpr std::uint64_t times_the_caches = 4;

/// Adds what one kind of work needs.
struct adding_needs {
  point_needs& to;

  void operator()(const stream_work& does) const { std::ranges::for_each(does.groups, *this); }
  void operator()(const stream_group& group) const {
    to.threads.insert(to.threads.end(), group.cpus.begin(), group.cpus.end());
    to.bytes += group.bytes;
    const std::uint64_t of_an_array = group.bytes / group.does->arrays;
    for (std::size_t k = 0; k < group.does->arrays; ++k) {
      const node_id own = group.node_of_array(k);
      if (own != unknown_node) {
        to.by_node[own] += of_an_array;
        continue;
      }
      for (const node_id node : group.memory) {
        to.by_node[node] += of_an_array / group.memory.size();
      }
    }
  }
  void operator()(const chase_work& does) const {
    to.threads = {does.cpu};
    // link_chain draws the successors in a separate array, which may be on the same node.
    to.by_node[does.memory] = does.bytes + does.bytes / (line_bytes / sizeof(std::uint32_t));
    if (does.beside) {
      (*this)(*does.beside);
    }
    to.bytes = does.bytes;
  }
  void operator()(const transfer_work& does) const { to.threads = {does.first, does.second}; }
  void operator()(const touch_work& does) const {
    to = {does.cpus, does.bytes, {{does.memory, does.bytes}}};
  }
  void operator()(const migration_work& does) const {
    to = {{does.cpu}, does.bytes, {{does.from, does.bytes}, {does.to, does.bytes}}};
  }
};

[[noreturn]] void refuse_buffers(const point& what, std::uint64_t bytes, std::string_view where,
                                 std::uint64_t there) {
  throw error(
      error_kind::usage,
      fmt::format("{} MiB of buffers for {}: {}", bytes >> 20, to_string(what.of), what.label),
      fmt::format("{} has only {} MiB available", where, there >> 20),
      "use smaller buffers (--size, or the size in the workgroup), or free page cache with "
      "`nodewise drop-cache`");
}

} // namespace

std::uint64_t memory_to_have::of(const memory_node& node, std::size_t position) const {
  const bool is_known = position < by_node.size() && by_node[position];
  const std::uint64_t bytes = is_known ? *by_node[position] : node.memory_bytes;
  return together ? std::min(bytes, *together) : bytes;
}

std::uint64_t enough_bytes(const topology& on) {
  return enough_bytes(on, on.machine().cpus());
}

std::uint64_t enough_bytes(const topology& on, const cpu_set& cpus) {
  int last = 0;
  std::uint64_t bytes = 0;
  for (const cache& each : on.machine().caches) {
    if (each.level > last) {
      last = each.level;
      bytes = 0;
    }
    // A cache without recorded processors may belong to these.
    const bool is_reached = each.cpus.empty() || each.cpus.intersects(cpus);
    bytes += each.level == last && is_reached ? each.size_bytes : 0;
  }
  return std::max(times_the_caches * bytes, 64 * mebibyte);
}

std::uint64_t enough_for_a_chain(const topology& on, cpu_id cpu) {
  return std::min(std::max(enough_bytes(on, cpu_set{cpu}), 256 * mebibyte), enough_bytes(on));
}

std::uint64_t most_bytes(const topology& on, const memory_to_have& memory) {
  const std::vector<memory_node>& nodes = on.machine().nodes;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].memory_bytes != 0 && on.allowed_nodes().contains(nodes[i].id)) {
      least = std::min(least, memory.of(nodes[i], i) / 4);
    }
  }
  return least;
}

point_needs needs_of(const work& does) {
  point_needs all;
  std::visit(adding_needs{all}, does);
  return all;
}

void require_memory(const topology& on, std::span<const point> points,
                    const memory_to_have& memory) {
  const std::vector<memory_node>& nodes = on.machine().nodes;
  for (const point& each : points) {
    const point_needs needs = needs_of(each.work);
    std::uint64_t together = 0;
    for (const auto& [id, bytes] : needs.by_node) {
      together += bytes;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::uint64_t there = memory.of(nodes[i], i);
        if (nodes[i].id == id && nodes[i].memory_bytes != 0 && bytes > there) {
          refuse_buffers(each, bytes, fmt::format("node {}", id), there);
        }
      }
    }
    if (memory.together && together > *memory.together) {
      refuse_buffers(each, together, "this control group", *memory.together);
    }
  }
}

} // namespace nodewise::measure
