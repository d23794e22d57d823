// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Placing fresh memory by the blocked distribution, one policy an extent.
#pragma once

#include <cstddef>

#include "agent/object_table.hpp"
#include "agent/settings.hpp"

namespace nodewise::agent {

/// The system's page.
[[nodiscard]] std::size_t page_bytes() noexcept;

[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

/// Where the block of the run's owners ends in a range of `bytes`: the next one begins there.
[[nodiscard]] std::size_t end_of_run(const settings& asked, std::size_t run, std::size_t bytes,
                                     std::size_t granule_bytes) noexcept;

/// What the edges of blocks are rounded to: the huge page if the kernel uses huge pages unasked and
/// every block has at least 8 of them, so that rounding moves no more than an eighth of a block;
/// otherwise the base page. That is exact with huge pages, too: extents are mappings of their own,
/// and a huge page never reaches across the end of a mapping.
[[nodiscard]] std::size_t choose_granule(const settings& asked, std::size_t bytes) noexcept;

/// Maps at least `bytes`, aligned to `alignment`, a power of two. nullptr if the kernel refuses.
[[nodiscard]] char* map(std::size_t bytes, std::size_t alignment) noexcept;

/// Gives the object's pages their owners: fills in `extents`, `flags` and `refused_errno`. What
/// follows `placed_bytes` up to `mapped_bytes` belongs to the last owner. Where the kernel refuses,
/// the whole range keeps the program's own policy.
void place(const settings& asked, object& what) noexcept;

/// Unmaps a part of the object, or all of it; its policies go with it.
void unmap(char* start, std::size_t bytes) noexcept;
/// The object's policies are gone: others may have as many.
void give_back_extents(const object& what) noexcept;

} // namespace nodewise::agent
