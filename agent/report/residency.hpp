// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "agent/alloc/object.hpp"

namespace nodewise::agent {

/// Where the pages of an object are. Counts are base pages.
struct residency {
  std::uint64_t pages;
  std::uint64_t resident;
  std::uint64_t on_owner;
  std::uint64_t unknown; ///< in memory, but the node is unknown
  bool reduced;          ///< move_pages was refused: asked page by page, at most 65536 pages
  std::uint32_t cells;
  std::int16_t strip[NODEWISE_AGENT_CELLS];
  std::uint64_t on_node[NODEWISE_AGENT_MAX_NODES];
  std::uint32_t runs; ///< of pages in memory
  bool runs_cut;      ///< there are more runs
  nodewise_agent_run run[NODEWISE_AGENT_MAX_RESIDENT_RUNS];
};

/// Asks the kernel where the object's pages are. False if there is no memory for the buffers.
/// `into` must be all zero, and is too large for a thread's stack.
[[nodiscard]] bool query(const object& what, residency& into) noexcept;

} // namespace nodewise::agent
