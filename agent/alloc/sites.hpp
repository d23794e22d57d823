// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/alloc/arena.hpp"

namespace nodewise::agent {

struct group;

/// In a profile blocks of this size or more may be objects of their own: see `may_stand_alone`.
inline constexpr std::size_t least_alone_bytes = std::size_t{16} << 10;

/// A place in the program that requests blocks.
struct site {
  std::atomic<const void*> caller;
  // Requested so far, before there is a group. A lost update does no harm.
  std::atomic<std::size_t> bytes;
  std::atomic<std::size_t> arena_bytes; ///< that they would take in an arena
  std::atomic<std::uint32_t> blocks;
  std::atomic<group*> members;
  std::atomic<std::uint32_t> alone; ///< blocks that have a name of their own

  void note(std::size_t block) noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    bytes.store(bytes.load(relaxed) + block, relaxed);
    arena_bytes.store(arena_bytes.load(relaxed) + arena::bytes_of_block(block), relaxed);
    blocks.store(blocks.load(relaxed) + 1, relaxed);
  }
};

/// nullptr: other sites have all its places in the table.
[[nodiscard]] site* site_of(const void* caller) noexcept;
/// Whether a block outside any group is an object of its own: in a profile the first 256 blocks of
/// a site, from 16 KiB on. Counts the block.
[[nodiscard]] bool may_stand_alone(std::size_t bytes, const void* caller) noexcept;

} // namespace nodewise::agent
