// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Bars of shares, and strips of the pages that nodes own.
#pragma once

#include <map>
#include <span>

#include <nodewise/id.hpp>

#include "report/style.hpp"

namespace nodewise::report {

/// A bar of `columns` columns filled up to `ratio` (0..1), in eighths of a column if the locale
/// allows. Only 0 is drawn as empty, and only 1 as full.
[[nodiscard]] std::string bar(const style& how, double ratio, std::size_t columns);

struct share {
  std::string label;
  double ratio = 0;            ///< 0..1; not finite: "unavailable"
  node_id node = unknown_node; ///< sets the colour
  std::string note;            ///< after the percentage, "1.20 GiB"
};

/// One line for each share: label, bar, percentage, note. Every line ends with a newline.
[[nodiscard]] std::string share_bars(const style& how, std::span<const share> shares,
                                     std::size_t indent = 0);

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
  std::map<node_id, std::size_t> totals_; ///< pages of each owner
  std::size_t pages_ = 0;
};

} // namespace nodewise::report
