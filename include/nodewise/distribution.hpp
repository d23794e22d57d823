// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Distributions: which node owns which page of a range. They hold no memory and no threads, so an
// allocator, a loop and a check can use the same one.
//
//     const std::vector<nodewise::node_id> owners{nodewise::node_id{0}, nodewise::node_id{1}};
//     const nodewise::blocked halves(owners);
//     std::printf("node %d owns page 700 of 1000\n", nodewise::to_int(halves.owner(700, 1000)));
//     for (const nodewise::extent& e : nodewise::block_cyclic(owners, 400).extents(1000)) {
//       std::printf("%zu pages on node %d\n", e.pages(), nodewise::to_int(e.owner));
//     }
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nodewise/arithmetic.hpp>
#include <nodewise/error.hpp>
#include <nodewise/id.hpp>

namespace nodewise::inline v0 {

/// Pages first_page..last_page of a range, half-open, and the node that owns them.
struct extent {
  std::size_t first_page = 0;
  std::size_t last_page = 0;
  node_id owner = unknown_node;

  /// Returns the number of pages.
  [[nodiscard]] constexpr std::size_t pages() const noexcept { return last_page - first_page; }
  friend constexpr bool operator==(const extent&, const extent&) = default;
};

/// A type that assigns pages to nodes. `owner(page, pages)` returns the node of one page of a range
/// of `pages` pages, in O(log owners) or better; `page` must be less than `pages`. `extents(pages)`
/// returns the whole range: ascending, without gaps, neighbours merged.
template <class D>
concept distribution = requires(const D& d, std::size_t n) {
  { d.owner(n, n) } -> std::same_as<node_id>;
  { d.extents(n) } -> std::same_as<std::vector<extent>>;
};

namespace detail {

inline void append(std::vector<extent>& extents, arithmetic::page_range pages, node_id owner) {
  if (pages.size() == 0) {
    return;
  }
  if (!extents.empty() && extents.back().owner == owner) {
    extents.back().last_page = pages.last;
  } else {
    extents.push_back({pages.first, pages.last, owner});
  }
}

inline void require_owners(const std::vector<node_id>& owners, const char* name) {
  if (owners.empty()) {
    throw error(error_kind::usage, std::string("a distribution '") + name + "'", "no owner given",
                "name at least one NUMA node");
  }
  for (const node_id owner : owners) {
    if (to_int(owner) < 0) {
      throw error(error_kind::usage, std::string("a distribution '") + name + "'",
                  "node " + std::to_string(to_int(owner)) + " as an owner",
                  "name owners by the operating system's node numbers, 0 or more");
    }
  }
}

} // namespace detail

/// Every page on one node, as with `numactl -m N`.
class bound {
 public:
  /// All pages on `node`. Throws `error` (usage) if its number is below 0.
  explicit bound(node_id node) : node_(node) { detail::require_owners({node}, "bound"); }

  /// Returns the node, for every page.
  [[nodiscard]] node_id owner(std::size_t, std::size_t) const noexcept { return node_; }
  /// Returns one extent.
  [[nodiscard]] std::vector<extent> extents(std::size_t pages) const {
    std::vector<extent> all;
    detail::append(all, {0, pages}, node_);
    return all;
  }

 private:
  node_id node_;
};

/// One contiguous block for each owner; block sizes differ by at most one page. This placement
/// matches `schedule(static)`. An owner may be listed several times in a row, once for each of its
/// threads. Throws `error` (usage) for an empty list or a number below 0.
class blocked {
 public:
  /// `owners` are in the order of their blocks.
  explicit blocked(std::vector<node_id> owners) : owners_(std::move(owners)) {
    detail::require_owners(owners_, "blocked");
  }

  /// Returns the node of one page of a range; `page` must be less than `pages`.
  [[nodiscard]] node_id owner(std::size_t page, std::size_t pages) const noexcept {
    return owners_[arithmetic::blocked_slot(page, pages, owners_.size())];
  }
  /// Returns the extents of the whole range: ascending, without gaps, neighbours merged.
  [[nodiscard]] std::vector<extent> extents(std::size_t pages) const {
    std::vector<extent> all;
    for (std::size_t slot = 0; slot < owners_.size(); ++slot) {
      detail::append(all, arithmetic::blocked(slot, pages, owners_.size()), owners_[slot]);
    }
    return all;
  }

 private:
  std::vector<node_id> owners_;
};

/// Blocks of `block_pages` pages, one for each owner in turn. Blocks of 1 page are the interleaving
/// of `numactl -i`, but starting at a defined node. Throws `error` (usage) for no owners, a number
/// below 0, or blocks of 0 pages.
class block_cyclic {
 public:
  /// `owners` are in the order of their first blocks; `block_pages` is the size of a block in
  /// pages.
  block_cyclic(std::vector<node_id> owners, std::size_t block_pages)
      : owners_(std::move(owners)), block_pages_(block_pages) {
    detail::require_owners(owners_, "block_cyclic");
    if (block_pages_ == 0) {
      throw error(error_kind::usage, "a distribution 'block_cyclic'", "blocks of 0 pages",
                  "give a block of at least one page");
    }
  }

  /// Returns the node of one page of a range of any length.
  [[nodiscard]] node_id owner(std::size_t page, std::size_t) const noexcept {
    return owners_[arithmetic::block_cyclic_slot(page, block_pages_, owners_.size())];
  }
  /// Returns the extents of the whole range: ascending, without gaps, neighbours merged.
  [[nodiscard]] std::vector<extent> extents(std::size_t pages) const {
    std::vector<extent> all;
    for (std::size_t first = 0; first < pages;) {
      const std::size_t last = pages - first > block_pages_ ? first + block_pages_ : pages;
      detail::append(all, {first, last}, owner(first, pages));
      first = last;
    }
    return all;
  }

 private:
  std::vector<node_id> owners_;
  std::size_t block_pages_;
};

/// One contiguous block for each owner, in proportion to its weight: for nodes of different size or
/// speed. Throws `error` (usage) unless every owner has a weight and some weight is above 0.
class weighted_blocks {
 public:
  /// `weights[k]` is the weight of `owners[k]`.
  weighted_blocks(std::vector<node_id> owners, const std::vector<std::uint32_t>& weights)
      : owners_(std::move(owners)) {
    detail::require_owners(owners_, "weighted_blocks");
    ends_.reserve(weights.size());
    for (const std::uint32_t weight : weights) {
      total_ += weight;
      ends_.push_back(total_);
    }
    if (weights.size() != owners_.size() || total_ == 0) {
      throw error(error_kind::usage, "a distribution 'weighted_blocks'",
                  std::to_string(owners_.size()) + " owners, " + std::to_string(weights.size()) +
                      " weights with the sum " + std::to_string(total_),
                  "give each owner a weight, and one of them a weight above 0");
    }
  }

  /// Returns blocks that end at given elements of an array: `owners[k]` owns the elements from
  /// `ends[k - 1]` (0 for the first) to `ends[k]`. The last end is the number of elements. Throws
  /// `error` (usage) for ends that descend, and as the constructor does.
  [[nodiscard]] static weighted_blocks ending_at(std::vector<node_id> owners,
                                                 std::vector<std::size_t> ends) {
    detail::require_owners(owners, "weighted_blocks");
    const std::size_t total = ends.empty() ? 0 : ends.back();
    if (ends.size() != owners.size() || total == 0 || !std::is_sorted(ends.begin(), ends.end())) {
      throw error(error_kind::usage, "a distribution 'weighted_blocks'",
                  std::to_string(owners.size()) + " owners, " + std::to_string(ends.size()) +
                      " ends, the last at element " + std::to_string(total),
                  "give each owner an end, ascending, the last above 0");
    }
    weighted_blocks made;
    made.owners_ = std::move(owners);
    made.ends_ = std::move(ends);
    made.total_ = total;
    return made;
  }

  /// Returns the node of one page of a range; `page` must be less than `pages`.
  [[nodiscard]] node_id owner(std::size_t page, std::size_t pages) const noexcept {
    const auto it = std::partition_point(ends_.begin(), ends_.end(), [&](std::size_t end) {
      return arithmetic::nearest(pages, end, total_) <= page;
    });
    return owners_[static_cast<std::size_t>(it - ends_.begin())];
  }
  /// Returns the extents of the whole range: ascending, without gaps, neighbours merged.
  [[nodiscard]] std::vector<extent> extents(std::size_t pages) const {
    std::vector<extent> all;
    std::size_t before = 0;
    for (std::size_t slot = 0; slot < owners_.size(); ++slot) {
      detail::append(all, arithmetic::weighted(before, ends_[slot] - before, total_, pages),
                     owners_[slot]);
      before = ends_[slot];
    }
    return all;
  }

 private:
  weighted_blocks() = default;

  std::vector<node_id> owners_;
  std::vector<std::size_t> ends_; ///< running sums of the weights
  std::size_t total_ = 0;
};

/// The old name of `weighted_blocks`.
using weighted [[deprecated("use weighted_blocks")]] = weighted_blocks;

/// Any assignment of pages to nodes, for a range of one length. Throws `error` (usage) unless the
/// extents ascend from page 0 without gaps.
class explicit_map {
 public:
  /// `extents` are in base pages of the range.
  explicit explicit_map(std::vector<extent> extents) : extents_(std::move(extents)) {
    std::size_t next = 0;
    for (const extent& e : extents_) {
      if (e.first_page != next || e.last_page <= e.first_page) {
        throw error(error_kind::usage, "a distribution 'explicit_map'",
                    "an extent of pages " + std::to_string(e.first_page) + ".." +
                        std::to_string(e.last_page) + " where page " + std::to_string(next) +
                        " comes next",
                    "list extents in ascending order, without gaps, none empty");
      }
      detail::require_owners({e.owner}, "explicit_map");
      next = e.last_page;
    }
  }

  /// Returns the length in pages of the range that the map is for.
  [[nodiscard]] std::size_t pages() const noexcept {
    return extents_.empty() ? 0 : extents_.back().last_page;
  }
  /// Returns the node of one page; `unknown_node` for pages past the map.
  [[nodiscard]] node_id owner(std::size_t page, std::size_t) const noexcept {
    const auto it = std::partition_point(extents_.begin(), extents_.end(),
                                         [&](const extent& e) { return e.last_page <= page; });
    return it == extents_.end() ? unknown_node : it->owner;
  }
  /// Returns the map's extents, neighbours merged. Throws `error` (usage) for a range of another
  /// length.
  [[nodiscard]] std::vector<extent> extents(std::size_t pages) const {
    if (pages != this->pages()) {
      throw error(error_kind::usage,
                  "placing " + std::to_string(pages) + " pages by an explicit map",
                  "the map is for " + std::to_string(this->pages()) + " pages",
                  "make the map for the length of the range");
    }
    std::vector<extent> merged;
    for (const extent& e : extents_) {
      detail::append(merged, {e.first_page, e.last_page}, e.owner);
    }
    return merged;
  }

 private:
  std::vector<extent> extents_;
};

} // namespace nodewise::inline v0
