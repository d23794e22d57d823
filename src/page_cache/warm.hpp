// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Brings a file into the page cache, each page on a chosen node.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "page_cache/locate.hpp"

namespace nodewise::page_cache {

struct warm_request {
  /// The node that a page shall be on.
  std::function<node_id(std::size_t page)> owner;
  /// A node's memory now; a test replaces it. nullopt: unknown, and no limit.
  std::function<std::optional<sys::node_memory>(node_id node)> memory;
  progress_of_bytes done;
};

struct warmed {
  file_location before;
  file_location now;
  /// Brought into the cache. nullopt: the kernel hides what was cached before.
  std::optional<std::uint64_t> read_bytes;
  std::uint64_t moved_pages = 0; ///< that were cached on another node
  /// Pages that are not on the node that was asked for, by the reason: see `moved_pages`; ENOMEM
  /// also for pages that were not read because other cached files would have been evicted, ENOENT
  /// for pages that are not cached in the end.
  std::map<int, std::uint64_t> stayed;
  int errno_value = 0;        ///< why reading ended early; 0: it did not
  std::uint64_t ended_at = 0; ///< the byte
};

/// Reads what is not cached, in the file's order and under a memory policy that allocates each page
/// on its node, and moves what is cached elsewhere. Reads nothing for which no node has free
/// memory, so that nothing else is evicted. The file may change its length meanwhile. After a call
/// that fails (`errno_value`), the rest of the file is only looked at. Returns an errno if nothing
/// could be done.
[[nodiscard]] sys::answer<warmed> warm(sys::kernel& kernel, const sys::cached_file& file,
                                       const warm_request& how);

} // namespace nodewise::page_cache
