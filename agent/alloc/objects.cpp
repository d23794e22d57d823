// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/objects.hpp"

#include "agent/alloc/front.hpp"
#include "agent/alloc/system_facts.hpp"
#include "agent/page.hpp"

namespace nodewise::agent {

bool map_for(object& what, std::size_t alignment) noexcept {
  what.start = map_behind_page(what.mapped_bytes, alignment);
  if (what.start == nullptr && kept_memory.give_back_all(kept_blocks::shortage::memory)) {
    what.start = map_behind_page(what.mapped_bytes, alignment);
  }
  if (what.start == nullptr) {
    return false;
  }
  // Removes a stale loan: code outside the agent may have freed an object where the kernel now maps
  // a new one.
  const kept_blocks::slot stale = kept_memory.claim(what.start);
  if (stale != kept_blocks::none) {
    give_back_extents(kept_memory.at(stale));
    kept_memory.forget(stale);
  }
  what.front_bytes = page_bytes();
  write_front(what);
  return true;
}

void* allocate_unplaced(std::size_t bytes, std::size_t alignment) noexcept {
  object made{};
  made.mapped_bytes = round_up(bytes + (bytes == 0 ? 1 : 0), page_bytes());
  made.bytes = bytes;
  made.placed_bytes = made.mapped_bytes;
  made.granule_bytes = page_bytes();
  page_mask = page_bytes() - 1;
  if (bytes <= PTRDIFF_MAX / 2 && map_for(made, alignment) && !objects.insert(made)) {
    unmap(mapping_of(made), mapping_bytes(made));
    made.start = nullptr;
  }
  return made.start;
}

} // namespace nodewise::agent
