// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of placement: which of `slots` owners has which page of a range. Pure functions of
// numbers, without memory, library or system calls. The distributions of distribution.hpp and the
// preloaded agent both use them.
//
//     namespace arithmetic = nodewise::arithmetic;
//     static_assert(arithmetic::blocked(1, 1000, 4) == arithmetic::page_range{250, 500});
//     static_assert(arithmetic::blocked_slot(499, 1000, 4) == 1); // the inverse
//     static_assert(arithmetic::block_cyclic_slot(5, 2, 4) == 2); // blocks of two pages
//
// A slot is a position among the owners, 0..slots-1; the caller maps it to a node.
// A page is a unit of placement: a base page, or 512 of them if huge pages are used.
#pragma once

#include <cstddef>

namespace nodewise::inline v0::arithmetic {

/// Pages first..last of a range, half-open.
struct page_range {
  std::size_t first = 0;
  std::size_t last = 0;

  /// Returns the number of pages.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return last - first; }
  friend constexpr bool operator==(const page_range&, const page_range&) = default;
};

__extension__ using wide = unsigned __int128; ///< `__extension__`: -Wpedantic rejects this type

/// Returns floor(a * b / c), also if a * b exceeds 64 bits.
[[nodiscard]] constexpr std::size_t multiply_divide(std::size_t a, std::size_t b,
                                                    std::size_t c) noexcept {
  return static_cast<std::size_t>(static_cast<wide>(a) * b / c);
}

/// Returns a * b / c, rounded to the nearest integer, a half upwards.
[[nodiscard]] constexpr std::size_t nearest(std::size_t a, std::size_t b, std::size_t c) noexcept {
  return static_cast<std::size_t>((static_cast<wide>(a) * b + c / 2) / c);
}

/// The fewest huge pages in a block that uses huge pages. Rounding the edges of such a block to
/// huge pages moves at most an eighth of it; shorter blocks keep base pages.
inline constexpr std::size_t min_huge_pages_per_block = 8;

/// Whether the shortest block is long enough to round edges to huge pages. `huge_page_bytes` is 0
/// if the system has none.
[[nodiscard]] constexpr bool huge_pages_fit(std::size_t shortest_block_bytes,
                                            std::size_t huge_page_bytes) noexcept {
  return huge_page_bytes != 0 && shortest_block_bytes / huge_page_bytes >= min_huge_pages_per_block;
}

/// Returns how many pages hold `bytes` bytes; `page_bytes` must not be 0.
[[nodiscard]] constexpr std::size_t pages_for(std::size_t bytes, std::size_t page_bytes) noexcept {
  return bytes / page_bytes + (bytes % page_bytes != 0 ? 1 : 0);
}

/// Blocked: returns the pages of one slot, if each owner has one contiguous block. Block sizes
/// differ by at most one page. Edges are at the pages nearest to equal parts, where OpenMP's
/// `schedule(static)` cuts a loop over the elements. `slots` must not be 0.
[[nodiscard]] constexpr page_range blocked(std::size_t slot, std::size_t pages,
                                           std::size_t slots) noexcept {
  return {nearest(pages, slot, slots), nearest(pages, slot + 1, slots)};
}

/// Blocked: returns the slot whose block holds `page`, which must be less than `pages`.
[[nodiscard]] constexpr std::size_t blocked_slot(std::size_t page, std::size_t pages,
                                                 std::size_t slots) noexcept {
  // The last slot whose block begins at this page or before: nearest(pages, slot, slots) <= page.
  return static_cast<std::size_t>(((static_cast<wide>(page) + 1) * slots - slots / 2 - 1) / pages);
}

/// Returns the items of one slot, if a loop divides `items` items into parts that differ by at most
/// one item, the longer parts first.
[[nodiscard]] constexpr page_range dealt(std::size_t slot, std::size_t items,
                                         std::size_t slots) noexcept {
  const std::size_t each = items / slots;
  const std::size_t longer = items % slots;
  const std::size_t first = slot * each + (slot < longer ? slot : longer);
  return {first, first + each + (slot < longer ? 1 : 0)};
}

/// Returns the first byte of the rows of one slot, if a loop over rows of `row_bytes` bytes is
/// divided as `dealt` says. The last row may be shorter. `row_bytes` and `slots` must not be 0.
[[nodiscard]] constexpr std::size_t first_byte_of_rows(std::size_t slot, std::size_t bytes,
                                                       std::size_t row_bytes,
                                                       std::size_t slots) noexcept {
  const std::size_t first = dealt(slot, pages_for(bytes, row_bytes), slots).first;
  return first > bytes / row_bytes ? bytes : first * row_bytes;
}

/// Block-cyclic: returns the slot of a page, if blocks of `block_pages` pages go to the slots in
/// turn; 1 is the interleaving of `numactl -i`.
[[nodiscard]] constexpr std::size_t block_cyclic_slot(std::size_t page, std::size_t block_pages,
                                                      std::size_t slots) noexcept {
  return page / block_pages % slots;
}

/// Weighted: returns the pages of one slot, if each owner has one contiguous block in proportion to
/// its weight. The blocks cover every page once. `before` is the sum of the weights of the slots
/// before this one; `total` is the sum of all.
[[nodiscard]] constexpr page_range weighted(std::size_t before, std::size_t weight,
                                            std::size_t total, std::size_t pages) noexcept {
  return {nearest(pages, before, total), nearest(pages, before + weight, total)};
}

} // namespace nodewise::inline v0::arithmetic
