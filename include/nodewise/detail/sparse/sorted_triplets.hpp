// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Entries in any order, sorted by row and column in parallel.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <utility>

#include <nodewise/detail/sparse/row_starts.hpp>

namespace nodewise::inline v0::detail {

/// The positions of triplets in the order of their rows. Sorting a row also sorts equal columns by
/// position, so the sum of entries at one place does not depend on the number of workers.
template <class Triplet>
class sorted_triplets {
 public:
  /// Throws `error` (usage) for a row or column out of range.
  template <class Teams>
  sorted_triplets(Teams& teams, std::size_t rows, std::size_t columns,
                  std::span<const Triplet> triplets)
      : triplets_(triplets), counts_(counted(teams, rows, columns, triplets)),
        starts_(teams, rows, *this),
        order_(std::max<std::size_t>(triplets.size(), 1), teams.blocked()) {
    // The counts become the numbers of places that are left in each row.
    for_my_part(teams, triplets, [this](std::size_t at) {
      const auto row = static_cast<std::size_t>(triplets_[at].row);
      const std::size_t left =
          std::atomic_ref(counts_[row]).fetch_sub(1, std::memory_order_relaxed) - 1;
      order_[starts_.all()[row] + left] = at;
    });
  }

  /// Returns the number of triplets in a row, before any of them is sorted in.
  std::size_t operator()(std::size_t row) const noexcept { return counts_[row]; }

  /// Sorts a row by column. Returns the number of different columns.
  std::size_t sort(std::size_t row) {
    const std::span<std::size_t> mine = positions(row);
    std::ranges::sort(mine, [this](std::size_t a, std::size_t b) {
      return std::pair(triplets_[a].column, a) < std::pair(triplets_[b].column, b);
    });
    std::size_t different = 0;
    for (std::size_t k = 0; k < mine.size(); ++k) {
      different += k == 0 || column(mine[k]) != column(mine[k - 1]) ? 1U : 0U;
    }
    return different;
  }

  /// Writes a sorted row; values at one place are added in the order in which they were given.
  template <class Index, class T>
  void write(std::size_t row, std::span<Index> columns, std::span<T> values) {
    std::size_t to = 0;
    const std::span<const std::size_t> mine = positions(row);
    for (std::size_t k = 0; k < mine.size(); ++k) {
      if (k != 0 && column(mine[k]) == column(mine[k - 1])) {
        values[to - 1] += triplets_[mine[k]].value;
      } else {
        columns[to] = column(mine[k]);
        values[to++] = triplets_[mine[k]].value;
      }
    }
  }

 private:
  [[nodiscard]] auto column(std::size_t at) const noexcept { return triplets_[at].column; }
  [[nodiscard]] std::span<std::size_t> positions(std::size_t row) {
    const auto starts = starts_.all();
    return {order_.data() + starts[row], starts[row + 1] - starts[row]};
  }

  /// Calls `f(position)` for all triplets; each worker does an equal part.
  template <class Teams, class F>
  static void for_my_part(Teams& teams, std::span<const Triplet> triplets, F f) {
    const std::size_t workers = teams.threads().workers().size();
    teams.on_each_worker([&](const worker& me) {
      const auto mine = arithmetic::blocked(me.number, triplets.size(), workers);
      for (std::size_t at = mine.first; at < mine.last; ++at) {
        f(at);
      }
    });
  }

  template <class Teams>
  static array<std::size_t> counted(Teams& teams, std::size_t rows, std::size_t columns,
                                    std::span<const Triplet> triplets) {
    array<std::size_t> counts(rows, teams.blocked());
    for_my_part(teams, triplets, [&](std::size_t at) {
      const auto [row, column, value] = triplets[at];
      if (std::cmp_less(row, 0) || std::cmp_greater_equal(row, rows) || std::cmp_less(column, 0) ||
          std::cmp_greater_equal(column, columns)) {
        refuse_triplet(at, static_cast<std::int64_t>(row), static_cast<std::int64_t>(column), rows,
                       columns);
      }
      std::atomic_ref(counts[static_cast<std::size_t>(row)])
          .fetch_add(1, std::memory_order_relaxed);
    });
    return counts;
  }

  std::span<const Triplet> triplets_;
  array<std::size_t> counts_; ///< by row
  row_starts<std::size_t> starts_;
  array<std::size_t> order_;
};

} // namespace nodewise::inline v0::detail
