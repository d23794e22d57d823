// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nodewise::agent {

struct group;

/// In a profile blocks of this size or more may be objects of their own: see `may_stand_alone`.
inline constexpr std::size_t least_alone_bytes = std::size_t{16} << 10;

/// A place in the program that requests blocks.
struct site {
  std::atomic<const void*> caller;
  std::atomic<std::size_t> bytes; ///< requested so far; a lost update does no harm
  std::atomic<group*> members;
  std::atomic<std::uint32_t> alone; ///< blocks that have a name of their own
};

/// nullptr: other sites have all its places in the table.
[[nodiscard]] site* site_of(const void* caller) noexcept;
/// Whether a block outside any group is an object of its own: in a profile the first 256 blocks of
/// a site, from 16 KiB on. Counts the block.
[[nodiscard]] bool may_stand_alone(std::size_t bytes, const void* caller) noexcept;

} // namespace nodewise::agent
