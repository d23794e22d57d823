// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/alloc/object.hpp"

namespace nodewise::agent {

/// The record of an object with room for all its shares and runs, and where the object's pages are.
/// Counts are base pages.
struct object_record {
  nodewise_agent_object fixed;
  /// The shares, followed by the runs.
  char rest[NODEWISE_AGENT_MAX_NODES * sizeof(nodewise_agent_share) +
            NODEWISE_AGENT_MAX_RESIDENT_RUNS * sizeof(nodewise_agent_run)];
  std::size_t rest_bytes;
  std::uint64_t on_node[NODEWISE_AGENT_MAX_NODES];
  nodewise_agent_run run[NODEWISE_AGENT_MAX_RESIDENT_RUNS]; ///< of pages in memory
};

/// Asks the kernel where the object's `fixed.pages` pages are: page by page, at most 65536 pages,
/// if it refuses move_pages. Fills in `on_node`, `run` and, of `fixed`, the counts of pages, the
/// strip, `runs` and the flags about the result. False if there is no memory for the buffers. All
/// else in `into` must be zero. It is too large for a thread's stack.
[[nodiscard]] bool query(const object& what, object_record& into) noexcept;

} // namespace nodewise::agent
