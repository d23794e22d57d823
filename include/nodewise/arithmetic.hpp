// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of placement: which of `slots` owners has which page of a range. Pure functions of
// numbers: no memory, no library, no system. The containers of distribution.hpp and the preloaded
// agent compute with the same lines.
//
// A slot is a position among the owners, 0..slots-1; which node that is, the caller knows.
// A page is a unit of placement: a base page, or 512 of them where huge pages are in force.
#pragma once

#include <cstddef>

namespace nodewise::inline v0::arithmetic {

/// Pages first..last of a range, half-open.
struct page_range {
  std::size_t first = 0;
  std::size_t last = 0;

  /// Pages in it.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return last - first; }
  friend constexpr bool operator==(const page_range&, const page_range&) = default;
};

__extension__ using wide = unsigned __int128; ///< -Wpedantic knows no 128-bit type

/// floor(a * b / c) for a * b beyond 64 bits.
[[nodiscard]] constexpr std::size_t multiply_divide(std::size_t a, std::size_t b,
                                                    std::size_t c) noexcept {
  return static_cast<std::size_t>(static_cast<wide>(a) * b / c);
}

/// a * b / c, rounded to the nearest, a half upwards.
[[nodiscard]] constexpr std::size_t nearest(std::size_t a, std::size_t b, std::size_t c) noexcept {
  return static_cast<std::size_t>((static_cast<wide>(a) * b + c / 2) / c);
}

/// A block of at least this many huge pages loses at most an eighth of itself when its edges are
/// rounded to them: shorter blocks keep base pages.
inline constexpr std::size_t min_huge_pages_per_block = 8;

/// Whether edges may be rounded to huge pages, by the shortest block. `huge_page_bytes` 0: there
/// are none.
[[nodiscard]] constexpr bool huge_pages_fit(std::size_t shortest_block_bytes,
                                            std::size_t huge_page_bytes) noexcept {
  return huge_page_bytes != 0 && shortest_block_bytes / huge_page_bytes >= min_huge_pages_per_block;
}

/// Pages needed to hold `bytes`; `page_bytes` must not be 0.
[[nodiscard]] constexpr std::size_t pages_for(std::size_t bytes, std::size_t page_bytes) noexcept {
  return bytes / page_bytes + (bytes % page_bytes != 0 ? 1 : 0);
}

/// Blocked: one contiguous block an owner, sizes differing by at most one page, with edges at the
/// pages that are nearest to equal parts: there OpenMP's `schedule(static)` cuts a loop over the
/// elements, so a block meets the thread that works on it. `slots` must not be 0.
[[nodiscard]] constexpr page_range blocked(std::size_t slot, std::size_t pages,
                                           std::size_t slots) noexcept {
  return {nearest(pages, slot, slots), nearest(pages, slot + 1, slots)};
}

/// The slot whose block holds `page`, which must be less than `pages`.
[[nodiscard]] constexpr std::size_t blocked_slot(std::size_t page, std::size_t pages,
                                                 std::size_t slots) noexcept {
  // The last slot that begins at this page or before it: nearest(pages, slot, slots) <= page.
  return static_cast<std::size_t>(((static_cast<wide>(page) + 1) * slots - slots / 2 - 1) / pages);
}

/// What a loop over `items` deals out: parts that differ by at most one, the longer ones first.
[[nodiscard]] constexpr page_range dealt(std::size_t slot, std::size_t items,
                                         std::size_t slots) noexcept {
  const std::size_t each = items / slots;
  const std::size_t longer = items % slots;
  const std::size_t first = slot * each + (slot < longer ? slot : longer);
  return {first, first + each + (slot < longer ? 1 : 0)};
}

/// Block-cyclic: blocks of `block_pages` pages dealt round; 1 is what `numactl -i` asks for.
[[nodiscard]] constexpr std::size_t block_cyclic_slot(std::size_t page, std::size_t block_pages,
                                                      std::size_t slots) noexcept {
  return page / block_pages % slots;
}

/// Weighted: one contiguous block an owner, in proportion to its weight, rounded so that the blocks
/// cover every page once. `before` is the sum of the weights of the slots in front of this one.
[[nodiscard]] constexpr page_range weighted(std::size_t before, std::size_t weight,
                                            std::size_t total, std::size_t pages) noexcept {
  return {nearest(pages, before, total), nearest(pages, before + weight, total)};
}

} // namespace nodewise::inline v0::arithmetic
