// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Moves pages of files to nodes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sys/kernel.hpp"

namespace nodewise::page_cache {

/// A page that is in memory and mapped by this process.
struct page_to_move {
  void* address = nullptr;
  int node = -1; ///< where it shall be
};

struct moved_pages {
  std::uint64_t moved = 0;
  /// Pages that stayed, by the reason: EACCES (other processes have mapped them too, and this one
  /// lacks CAP_SYS_NICE), EBUSY (in use for a moment), ENOMEM (the node has no free memory), or
  /// what else the kernel answers.
  std::map<int, std::uint64_t> stayed;
};

/// Moves each page. `shared`: also pages that other processes have mapped (CAP_SYS_NICE).
[[nodiscard]] moved_pages move_pages(sys::kernel& kernel, std::vector<page_to_move> pages,
                                     bool shared);

} // namespace nodewise::page_cache
