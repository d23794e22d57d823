// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The memory that each page of an array is in, by position of the node, for arrays of any length.
#pragma once

#include <cstddef>
#include <vector>

namespace nodewise::model {

/// Pages first..last (half-open) of one memory.
struct page_block {
  std::size_t last = 0; ///< half-open; the first page is `last` of the block before
  std::size_t node = 0;

  friend bool operator==(const page_block&, const page_block&) = default;
};

class page_map {
 public:
  /// Blocks in ascending order; the last one also has all pages after it. Throws `error` (usage)
  /// if there are no blocks.
  [[nodiscard]] static page_map of_blocks(std::vector<page_block> blocks);
  /// Blocks of `block_pages` in turn over these nodes; one named n times has n blocks a round.
  /// Throws `error` (usage) for no nodes or blocks of 0 pages.
  [[nodiscard]] static page_map in_turn(std::vector<std::size_t> nodes,
                                        std::size_t block_pages = 1);

  [[nodiscard]] std::size_t node_of(std::size_t page) const noexcept;
  /// The page after the last one of this page's block.
  [[nodiscard]] std::size_t end_of_block(std::size_t page) const noexcept;
  /// Adds `weight` times the pages first..last (fractions allowed) to each node's sum.
  void add_pages(double first, double last, double weight, std::vector<double>& sums) const;
  /// The map of an array that starts `by` blocks later in the round; maps of blocks stay as they
  /// are.
  [[nodiscard]] page_map staggered(std::size_t by) const;
  /// The same map with `by[n]` in the place of node n.
  [[nodiscard]] page_map replaced(const std::vector<std::size_t>& by) const;
  /// The number of blocks of an array of `pages` pages.
  [[nodiscard]] std::size_t blocks_of(std::size_t pages) const noexcept;
  friend bool operator==(const page_map&, const page_map&) = default;

 private:
  [[nodiscard]] bool is_in_turn() const noexcept { return blocks_.empty(); }
  /// The block of this page, if pages are not in turn.
  [[nodiscard]] const page_block& block_of(std::size_t page) const noexcept;

  std::vector<page_block> blocks_;
  std::vector<std::size_t> turn_;
  std::size_t turn_pages_ = 1;
};

/// The pages that the nodes still have room for. Pages that do not fit go to the nearest node with
/// room, as with the kernel's zone lists.
class free_memory {
 public:
  /// `pages`: free on each node. `nearest`: for each node all nodes, nearest first.
  free_memory(std::vector<std::size_t> pages, std::vector<std::vector<std::size_t>> nearest);

  /// Places `pages` of an array in ascending order and subtracts them from the free pages. Throws
  /// `error` (input) if they do not fit at all.
  [[nodiscard]] page_map place(const page_map& wanted, std::size_t pages);
  [[nodiscard]] std::size_t left(std::size_t node) const { return pages_[node]; }

 private:
  std::vector<std::size_t> pages_;
  std::vector<std::vector<std::size_t>> nearest_;
};

} // namespace nodewise::model
