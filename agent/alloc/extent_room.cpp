// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/extent_room.hpp"

#include <atomic>

#include "agent/alloc/system_facts.hpp"

namespace nodewise::agent {

namespace {

constinit std::atomic<std::size_t> extents_in_use{0};

} // namespace

bool try_reserve_extents(std::size_t count) noexcept {
  if (extents_in_use.fetch_add(count) + count <= extent_limit()) {
    return true;
  }
  extents_in_use -= count;
  return false;
}

std::size_t extents_left() noexcept {
  const std::size_t used = extents_in_use;
  const std::size_t most = extent_limit() / 8 * 7;
  return most > used ? most - used : 0;
}

bool policies_are_short() noexcept {
  constexpr std::size_t of_an_object = 64;
  return extents_in_use.load(std::memory_order_relaxed) + of_an_object > extent_limit();
}

void release_extents(std::size_t count) noexcept {
  extents_in_use -= count;
}

void give_back_extents(object& what) noexcept {
  release_extents(what.extents);
  what.extents = 0;
  what.numa_pinned = {};
}

} // namespace nodewise::agent
