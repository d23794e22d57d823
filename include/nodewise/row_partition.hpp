// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which worker owns which rows of a matrix: one cut for all its arrays, vectors and loops.
//
//     const std::vector<nodewise::node_id> owners{nodewise::node_id{0}, nodewise::node_id{1}};
//     const auto cost_before = [](std::size_t row) { return row * (row + 1) / 2; }; // a triangle
//     const auto cut = nodewise::row_partition::balanced(owners, 1000, cost_before);
//     std::printf("node 0 owns rows 0 to %zu\n", cut.rows_of(0).last);
//
// Source of the idea: Hager and Wellein, section 8.2: the arrays of a sparse matrix belong where
// the rows are multiplied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nodewise/array.hpp>
#include <nodewise/distribution.hpp>
#include <nodewise/error.hpp>

namespace nodewise::inline v0 {

/// A contiguous block of rows for each worker, in the order of the workers; blocks may be empty.
class row_partition {
 public:
  /// Worker k, on node `owners[k]`, owns rows `ends[k - 1]` (0 for the first) to `ends[k]`. Throws
  /// `error` (usage) for no owners, another number of ends, ends that descend, or no rows.
  row_partition(std::vector<node_id> owners, std::vector<std::size_t> ends)
      : owners_(std::move(owners)), ends_(std::move(ends)) {
    (void)weighted_blocks::ending_at(owners_, ends_); // the same conditions
  }

  /// Cuts `rows` rows so that all workers have the same cost, as nearly as whole rows permit:
  /// no worker has more than the mean and the cost of its longest row. `cost_before(row)` returns
  /// the cost of all rows before `row`, for 0 to `rows`; it must not descend. Workers begin at
  /// multiples of `multiple` rows. Throws `error` (usage) for no owners or no rows.
  template <class F>
  [[nodiscard]] static row_partition balanced(std::vector<node_id> owners, std::size_t rows,
                                              F&& cost_before, std::size_t multiple = 1) {
    const std::size_t workers = owners.size();
    const std::size_t all = cost_before(rows);
    const std::size_t last_step = arithmetic::pages_for(rows, multiple);
    const auto row_at = [&](std::size_t step) { return std::min(step * multiple, rows); };
    std::vector<std::size_t> ends;
    ends.reserve(workers);
    std::size_t at = 0; // in steps of `multiple` rows
    for (std::size_t k = 1; k < workers; ++k) {
      const std::size_t target = arithmetic::nearest(all, k, workers);
      std::size_t end = last_step; // the first step with at least the target before it
      for (std::size_t low = at; low < end;) {
        const std::size_t middle = low + (end - low) / 2;
        if (cost_before(row_at(middle)) < target) {
          low = middle + 1;
        } else {
          end = middle;
        }
      }
      const bool nearer_before =
          end > at && target - cost_before(row_at(end - 1)) < cost_before(row_at(end)) - target;
      at = nearer_before ? end - 1 : end;
      ends.push_back(row_at(at));
    }
    ends.push_back(rows);
    return {std::move(owners), std::move(ends)};
  }

  /// Returns the number of workers.
  [[nodiscard]] std::size_t workers() const noexcept { return owners_.size(); }
  /// Returns the number of rows.
  [[nodiscard]] std::size_t rows() const noexcept { return ends_.back(); }
  /// Returns the rows of a worker, which must be less than `workers()`.
  [[nodiscard]] index_range rows_of(std::size_t worker) const noexcept {
    return {worker == 0 ? 0 : ends_[worker - 1], ends_[worker]};
  }
  /// Returns the node of each worker.
  [[nodiscard]] std::span<const node_id> owners() const noexcept { return owners_; }

  /// Returns the distribution of an array with one element for each row: a vector.
  [[nodiscard]] weighted_blocks by_rows() const {
    return weighted_blocks::ending_at(owners_, ends_);
  }
  /// Returns the distribution of an array with several elements for each row, in the order of the
  /// rows. `elements_before(row)` returns the number of elements of all rows before `row`. If there
  /// are none, one element belongs to the last worker.
  template <class F>
  [[nodiscard]] weighted_blocks by_elements(F&& elements_before) const {
    std::vector<std::size_t> ends;
    ends.reserve(ends_.size());
    for (const std::size_t row : ends_) {
      ends.push_back(elements_before(row));
    }
    ends.back() = std::max<std::size_t>(ends.back(), 1);
    return weighted_blocks::ending_at(owners_, std::move(ends));
  }

  /// Returns the distribution of a vector with `columns` elements. The owner of row r has the
  /// element at the same share of the vector: for as many columns as rows, element r.
  [[nodiscard]] weighted_blocks by_columns(std::size_t columns) const {
    return by_elements([&](std::size_t row) { return arithmetic::nearest(columns, row, rows()); });
  }

  /// Returns the elements that a worker has of a vector with `columns` elements, by `by_columns`.
  [[nodiscard]] index_range columns_of(std::size_t worker, std::size_t columns) const noexcept {
    const index_range mine = rows_of(worker);
    return {arithmetic::nearest(columns, mine.first, rows()),
            arithmetic::nearest(columns, mine.last, rows())};
  }

  /// Returns the node that owns element `column` of a vector with `columns` elements, by
  /// `by_columns`, to within a page; `column` must be less than `columns`.
  [[nodiscard]] node_id owner_of_column(std::size_t column, std::size_t columns) const noexcept {
    const auto it = std::ranges::partition_point(ends_, [&](std::size_t end) {
      return arithmetic::nearest(columns, end, rows()) <= column;
    });
    return owners_[static_cast<std::size_t>(it - ends_.begin())];
  }

  friend bool operator==(const row_partition&, const row_partition&) = default;

 private:
  std::vector<node_id> owners_;
  std::vector<std::size_t> ends_;
};

} // namespace nodewise::inline v0
