// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <map>
#include <string>

#include <fmt/core.h>

#include "place/engine.hpp"
#include "sys/node_memory.hpp"

namespace nodewise::engine {

namespace {

/// Querying a node takes as long as tens of faults, and smaller ranges nearly always fit.
constexpr std::size_t least_bytes_asked_for = std::size_t{16} << 20;

struct room {
  std::uint64_t asked = 0;
  std::uint64_t there = UINT64_MAX; ///< if the kernel does not report it, nothing is refused
};

std::string answer(node_id node, const room& of) {
  return fmt::format("node {} has {} MiB free or in pages of files, and {} MiB of the range would "
                     "go there",
                     node, of.there >> 20, of.asked >> 20);
}

} // namespace

void require_room(sys::kernel& kernel, strictness how, placement& report) {
  const std::size_t page = report.base_page_bytes;
  if (report.method == place_method::migration) {
    return; // the pages are in memory already, and failed moves are reported
  }
  if (how == strictness::prefer && report.pages * page < least_bytes_asked_for) {
    return;
  }
  std::map<node_id, room> rooms;
  std::map<node_id, extent> too_much;
  for (const extent& e : report.asked) {
    const auto [at, fresh] = rooms.try_emplace(e.owner);
    room& own = at->second;
    if (fresh) {
      if (const auto now = sys::read_node_memory(kernel, e.owner)) {
        own.there = now->free_bytes + now->cache_bytes;
      }
    }
    own.asked += e.pages() * page;
    if (own.asked > own.there) {
      too_much.emplace(e.owner, e);
    }
  }
  for (const auto& [node, first] : too_much) {
    if (how == strictness::must) {
      throw error(error_kind::system, fmt::format("memory for {}", describe(first)),
                  answer(node, rooms[node]),
                  "ask for less, free memory on the node, or let it go elsewhere: "
                  "strictness::prefer",
                  ENOMEM);
    }
    report.notes.push_back(
        fmt::format("{}: the rest goes to other nodes", answer(node, rooms[node])));
  }
}

} // namespace nodewise::engine
