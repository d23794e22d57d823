// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <nodewise/id.hpp>

#include "report/style.hpp"

namespace nodewise::report {

/// Pages in a row with the same owner.
struct page_run {
  std::size_t pages = 0;
  node_id owner = unknown_node;
};

/// The owner of a page that is not in memory; `unknown_node` means an unknown owner.
inline constexpr node_id not_resident{-2};
/// The owner of a part of the range in which no node owns more than half of the pages.
inline constexpr node_id mixed_owners{-3};

/// A range of pages as a strip of fixed width, with the first page on the left.
class strip {
 public:
  explicit strip(std::vector<page_run> runs);
  /// One owner for each page.
  explicit strip(std::span<const node_id> owners);

  /// Each column shows the node that owns more than half of its pages, or the mark of mixed, not
  /// resident or unknown pages. Nodes below 10 are digits, others are letters. No newline.
  [[nodiscard]] std::string draw(const style& how, std::size_t columns) const;
  /// The meaning of each mark that can occur, with its share of the pages: "0 node 0 (50.0 %)".
  [[nodiscard]] std::string legend(const style& how) const;

 private:
  [[nodiscard]] std::string mark(const style& how, node_id owner) const;

  std::vector<page_run> runs_;
  std::vector<page_run> totals_; ///< pages of each owner, ascending by owner
  std::size_t pages_ = 0;
};

} // namespace nodewise::report
