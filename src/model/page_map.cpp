// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/page_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include <nodewise/error.hpp>

namespace nodewise::model {

page_map page_map::of_blocks(std::vector<page_block> blocks) {
  if (blocks.empty()) {
    throw error(error_kind::usage, "a map of pages", "no block", "name at least one node");
  }
  page_map map;
  map.blocks_ = std::move(blocks);
  return map;
}

page_map page_map::in_turn(std::vector<std::size_t> nodes, std::size_t block_pages) {
  if (nodes.empty() || block_pages == 0) {
    throw error(error_kind::usage, "a map of pages", "no nodes, or blocks of 0 pages",
                "name at least one node and one page");
  }
  page_map map;
  map.turn_ = std::move(nodes);
  map.turn_pages_ = block_pages;
  return map;
}

const page_block& page_map::block_of(std::size_t page) const noexcept {
  const auto block = std::ranges::upper_bound(blocks_, page, {}, &page_block::last);
  return block == blocks_.end() ? blocks_.back() : *block;
}

std::size_t page_map::node_of(std::size_t page) const noexcept {
  return is_in_turn() ? turn_[page / turn_pages_ % turn_.size()] : block_of(page).node;
}

std::size_t page_map::end_of_block(std::size_t page) const noexcept {
  const page_block* const block = is_in_turn() ? nullptr : &block_of(page);
  if (block == nullptr ? turn_.size() == 1 : block == &blocks_.back()) {
    return std::numeric_limits<std::size_t>::max();
  }
  return block == nullptr ? (page / turn_pages_ + 1) * turn_pages_ : block->last;
}

void page_map::add_pages(double first, double last, double weight,
                         std::vector<double>& sums) const {
  const auto add = [&](double from, double to, std::size_t node) {
    if (to > from) {
      sums[node] += (to - from) * weight;
    }
  };
  if (!is_in_turn()) {
    auto block = std::ranges::upper_bound(
        blocks_, first, {}, [](const page_block& each) { return static_cast<double>(each.last); });
    for (; first < last; ++block) {
      const bool is_last = block == blocks_.end() || block + 1 == blocks_.end();
      const double end = is_last ? last : std::min(last, static_cast<double>(block->last));
      add(first, end, block == blocks_.end() ? blocks_.back().node : block->node);
      first = end;
    }
    return;
  }
  // Add whole rounds at once, then the rest.
  const auto block = static_cast<double>(turn_pages_);
  const double round = block * static_cast<double>(turn_.size());
  const double whole = std::floor((last - first) / round);
  if (whole > 0) {
    for (const std::size_t node : turn_) {
      sums[node] += whole * block * weight;
    }
    first += whole * round;
  }
  while (first < last) {
    const double end = std::min(last, (std::floor(first / block) + 1) * block);
    add(first, end, node_of(static_cast<std::size_t>(first)));
    first = end;
  }
}

page_map page_map::staggered(std::size_t by) const {
  page_map map = *this;
  if (is_in_turn()) {
    const auto first = static_cast<std::ptrdiff_t>(by % turn_.size());
    std::rotate(map.turn_.begin(), map.turn_.begin() + first, map.turn_.end());
  }
  return map;
}

page_map page_map::replaced(const std::vector<std::size_t>& by) const {
  page_map other = *this;
  for (page_block& block : other.blocks_) {
    block.node = by[block.node];
  }
  for (std::size_t& node : other.turn_) {
    node = by[node];
  }
  return other;
}

std::size_t page_map::blocks_of(std::size_t pages) const noexcept {
  if (!is_in_turn()) {
    return blocks_.size();
  }
  return turn_.size() == 1 ? 1 : (pages + turn_pages_ - 1) / turn_pages_;
}

free_memory::free_memory(std::vector<std::size_t> pages,
                         std::vector<std::vector<std::size_t>> nearest)
    : pages_(std::move(pages)), nearest_(std::move(nearest)) {}

page_map free_memory::place(const page_map& wanted, std::size_t pages) {
  std::vector<page_block> blocks;
  const auto append = [&](std::size_t count, std::size_t node) {
    const std::size_t last = (blocks.empty() ? 0 : blocks.back().last) + count;
    if (!blocks.empty() && blocks.back().node == node) {
      blocks.back().last = last;
    } else {
      blocks.push_back({last, node});
    }
    pages_[node] -= count;
  };
  for (std::size_t page = 0; page < pages;) {
    const std::size_t end = std::min(pages, wanted.end_of_block(page));
    const std::size_t asked = wanted.node_of(page);
    const auto room = std::ranges::find_if(nearest_[asked],
                                           [this](std::size_t node) { return pages_[node] > 0; });
    if (room == nearest_[asked].end()) {
      throw error(error_kind::input, fmt::format("placing {} pages of an array", pages),
                  fmt::format("no node has room for page {}", page),
                  "make the arrays smaller or give the nodes more free memory");
    }
    const std::size_t count = std::min(end - page, pages_[*room]);
    append(count, *room);
    page += count;
  }
  return page_map::of_blocks(std::move(blocks));
}

} // namespace nodewise::model
