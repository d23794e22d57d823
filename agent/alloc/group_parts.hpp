// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The arrays that a group's blocks belong to: each part of the group is placed as an object.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/alloc/arena.hpp"
#include "agent/alloc/object.hpp"

namespace nodewise::agent {

inline constexpr std::size_t max_parts = 32; ///< arrays that one site makes, one after the other
inline constexpr std::size_t max_marks = 64;
/// Fewer blocks are arrays of their own, not rows of one.
inline constexpr std::uint32_t handful = 16;
/// Counted: contended counting would be slow.
inline constexpr std::uint32_t most_foreign = 1U << 16;

/// A request between two blocks of a group that may be an index of the blocks that follow. The
/// group's thread writes it, while another one may place the blocks.
struct mark {
  std::uint32_t number;           ///< of the block that follows
  std::size_t offset;             ///< of that block in the arena
  std::atomic<std::size_t> bytes; ///< of the request
  std::atomic<const void*> caller;
};

struct group {
  arena blocks;
  const void* caller;
  rule_set above; ///< for every part, like `made_by`
  allocation made_by;
  std::atomic<std::uint32_t> foreign;     ///< requests of the site by other threads
  std::size_t latest_bytes;               ///< of the last requested block
  std::atomic<std::size_t> settled_bytes; ///< placed up to here
  std::atomic<bool> reported;
  std::atomic<std::size_t> marks;
  mark marked[max_marks];
  // Only for the thread that has the lock `settling`.
  std::size_t parts;
  object part[max_parts];
  bool told[max_parts]; ///< its part is in the report
};

// Both need the lock `settling`: another thread may be placing parts.
/// Places the parts that have grown since they were last placed.
void settle_parts(group& of, bool with_threads) noexcept;
/// Reports the parts that were not reported yet.
void report_parts(group& of) noexcept;

} // namespace nodewise::agent
