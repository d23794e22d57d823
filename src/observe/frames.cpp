// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/frames.hpp"

#include <unistd.h>

#include <fmt/core.h>

#include "base/parse_number.hpp"
#include "topology/small_file.hpp"

namespace nodewise::observe {

namespace {

using topology_detail::numbered_entries;
using topology_detail::read_record_file;
using topology_detail::read_small_file;

std::uint64_t frames_per_block(const std::string& root) {
  const auto text = read_small_file(root + "/sys/devices/system/memory/block_size_bytes");
  const auto bytes = parse_number<std::uint64_t>(text.value_or(""), 16);
  return bytes.value_or(0) / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace

void frame_map::add_block(std::uint64_t block, node_id node) {
  constexpr std::uint64_t most = std::uint64_t{1} << 24; // blocks of 128 MiB: two exabytes
  if (block >= most) {
    return;
  }
  if (block >= blocks_.size()) {
    blocks_.resize(block + 1, unknown_node);
  }
  node_id& at = blocks_[block];
  at = at == unknown_node || at == node ? node : shared_block;
}

frame_map frame_map::read(const std::string& root) {
  frame_map map(frames_per_block(root),
                parse_zoneinfo(read_record_file(root + "/proc/zoneinfo").value_or("")));
  const std::string nodes = root + "/sys/devices/system/node";
  for (const int node : numbered_entries(nodes, "node").value_or(std::vector<int>{})) {
    for (const int block : numbered_entries(fmt::format("{}/node{}", nodes, node), "memory")
                               .value_or(std::vector<int>{})) {
      map.add_block(static_cast<std::uint64_t>(block), node_id{node});
    }
  }
  return map;
}

node_id frame_map::node_by_zone(std::uint64_t frame) const noexcept {
  node_id found = unknown_node;
  for (const zone_span& zone : zones_) {
    if (zone.first <= frame && frame < zone.last) {
      if (found != unknown_node && found != zone.node) {
        return unknown_node;
      }
      found = zone.node;
    }
  }
  return found;
}

} // namespace nodewise::observe
