// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A buffer for each worker, on its node, for results that several workers add to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <nodewise/array.hpp>
#include <nodewise/detail/sparse/checks.hpp>
#include <nodewise/row_partition.hpp>

namespace nodewise::inline v0::detail {

/// Which elements of a result the rows of a worker add to.
enum class reach {
  columns,          ///< those of the columns of their entries
  rows_and_columns, ///< also those of the rows
};

template <class T>
class partial_results {
 public:
  template <class Teams, class Matrix>
  partial_results(Teams& teams, const Matrix& a, reach of) : parts_(a.partition().workers()) {
    require_same_teams(a.partition(), teams.threads());
    teams.on_each_worker([&](const worker& me) {
      part& mine = parts_[me.number];
      mine.covered = range_of(a, a.partition().rows_of(me.number), of);
      mine.combines = a.partition().columns_of(me.number, a.columns());
    });
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (parts_[k].covered.size() != 0) {
        parts_[k].sums.emplace(parts_[k].covered.size(), bound(a.partition().owners()[k]));
      }
    }
  }

  /// The buffer of a worker, by elements of the result.
  struct buffer {
    T* sums;
    std::size_t first;

    T& operator[](std::size_t element) const noexcept { return sums[element - first]; }
  };
  /// Clears a worker's buffer.
  [[nodiscard]] buffer cleared(std::size_t worker) {
    part& mine = parts_[worker];
    if (!mine.sums) {
      return {nullptr, 0};
    }
    std::ranges::fill(*mine.sums, T{0});
    return {mine.sums->data(), mine.covered.first};
  }

  /// Writes the elements of the result that a worker combines.
  void combine(std::size_t worker, T* y) const {
    const index_range mine = parts_[worker].combines;
    std::fill(y + mine.first, y + mine.last, T{0});
    for (const part& each : parts_) {
      const std::size_t last = std::min(mine.last, each.covered.last);
      for (std::size_t k = std::max(mine.first, each.covered.first); k < last; ++k) {
        y[k] += (*each.sums)[k - each.covered.first];
      }
    }
  }

 private:
  struct part {
    index_range covered;  ///< elements that the buffer holds sums for
    index_range combines; ///< elements that this worker writes at last
    std::optional<array<T, bound>> sums;
  };

  template <class Matrix>
  static index_range range_of(const Matrix& a, index_range rows, reach of) {
    index_range all{a.columns(), 0};
    for (std::size_t row = rows.first; row < rows.last; ++row) {
      for (const auto column : a.row(row).columns) {
        all.first = std::min(all.first, static_cast<std::size_t>(column));
        all.last = std::max(all.last, static_cast<std::size_t>(column) + 1);
      }
    }
    if (of == reach::rows_and_columns && rows.size() != 0) {
      all = {std::min(all.first, rows.first), std::max(all.last, rows.last)};
    }
    return all.first < all.last ? all : index_range{};
  }

  std::vector<part> parts_;
};

} // namespace nodewise::inline v0::detail
