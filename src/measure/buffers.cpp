// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/buffers.hpp"

#include <algorithm>
#include <limits>

namespace nodewise::measure {

namespace {

constexpr std::uint64_t times_the_caches = 4;

int last_level(const machine& of) {
  int last = 0;
  for (const cache& each : of.caches) {
    last = std::max(last, each.level);
  }
  return last;
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
  const machine& all = on.machine();
  const int last = last_level(all);
  std::uint64_t caches = 0;
  for (const cache& each : all.caches) {
    // A cache without recorded processors may belong to these.
    const bool is_reached = each.cpus.empty() || !(each.cpus & cpus).empty();
    caches += each.level == last && is_reached ? each.size_bytes : 0;
  }
  return std::max(times_the_caches * caches, 64 * mebibyte);
}

std::uint64_t enough_for_a_chain(const topology& on, cpu_id cpu) {
  return std::min(std::max(enough_bytes(on, cpu_set{cpu}), 256 * mebibyte), enough_bytes(on));
}

std::uint64_t most_bytes(const topology& on, const memory_to_have& memory) {
  const machine& all = on.machine();
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < all.nodes.size(); ++i) {
    if (all.nodes[i].memory_bytes != 0 && on.allowed_nodes().contains(all.nodes[i].id)) {
      least = std::min(least, memory.of(all.nodes[i], i) / 4);
    }
  }
  return least;
}

} // namespace nodewise::measure
