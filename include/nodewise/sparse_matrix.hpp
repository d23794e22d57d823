// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A sparse matrix in compressed rows (CRS, CSR), whose arrays are on the nodes of the workers that
// multiply the rows.
//
//     #include <nodewise/openmp.hpp>
//
//     nodewise::openmp_teams teams;
//     const auto length = [](std::size_t) { return 1; };
//     const auto fill = [](std::size_t row, auto columns, auto values) {
//       columns[0] = static_cast<int>(row);
//       values[0] = 2.0;
//     };
//     const auto a = nodewise::sparse_matrix<double>::from_rows(teams, 1000, 1000, length, fill);
//     std::printf("%zu entries\n%s\n", a.entries(), a.strip().c_str());
//
// The data flow: every worker owns a contiguous block of rows (`row_partition`), cut so that all
// workers move the same bytes. Row starts, column indices, values and both vectors follow that cut,
// the owners build their parts in parallel, and `multiply` runs each row on its owner.
// Source: Hager and Wellein, section 8.2.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nodewise/detail/sparse/placed_elements.hpp>
#include <nodewise/detail/sparse/row_starts.hpp>
#include <nodewise/detail/sparse/rows.hpp>
#include <nodewise/detail/sparse/sorted_triplets.hpp>
#include <nodewise/row_partition.hpp>

namespace nodewise::inline v0 {

/// An entry of a sparse matrix; rows and columns count from 0.
template <class T, class Index = std::int32_t>
struct triplet {
  Index row;
  Index column;
  T value;
};

/// The entries of a row.
template <class T, class Index>
struct sparse_row {
  std::span<const Index> columns;
  std::span<const T> values; ///< as many as columns
};

/// A sparse matrix in compressed rows. `T` is the type of the values, `Index` of the column
/// indices, `Offset` of the row starts; 32 bits each move fewer bytes. Movable, not copyable. The
/// positions of the entries never change after construction.
template <std::floating_point T, std::integral Index = std::int32_t,
          std::integral Offset = std::int64_t>
class sparse_matrix {
 public:
  using value_type = T;
  using index_type = Index;
  using offset_type = Offset;

  /// Builds a matrix row by row, without any array that one thread has touched. `length(row)`
  /// returns the number of entries of a row; `fill(row, std::span<Index> columns, std::span<T>
  /// values)` writes that many. Workers call both in parallel, `fill` on the row's owner. Throws
  /// `error`: (usage) for 0 rows or columns, more rows than the machine has memory for, indices or
  /// counts out of range; (system) if memory runs out; and what `length` and `fill` throw.
  template <class Teams, class Length, class Fill>
  [[nodiscard]] static sparse_matrix from_rows(Teams& teams, std::size_t rows, std::size_t columns,
                                               Length&& length, Fill&& fill) {
    require_size(rows, columns);
    const detail::row_starts<Offset> before(teams, rows, length);
    sparse_matrix made(columns, cut(teams.threads().owners(), before.all()), before.all());
    teams.on_each_worker([&](const worker& me) { made.build(before.all(), me, fill); });
    made.choose_order();
    return made;
  }

  /// Copies arrays in compressed rows: the entries of row r are `row_starts[r]` up to
  /// `row_starts[r + 1]` of `column_indices` and `values`, counted from 0. Columns of a row may be
  /// in any order. Throws as `from_rows`, and `error` (usage) unless the row starts ascend from 0
  /// to the number of entries.
  template <class Teams>
  [[nodiscard]] static sparse_matrix
  copy(Teams& teams, std::size_t columns, std::span<const Offset> row_starts,
       std::span<const Index> column_indices, std::span<const T> values) {
    detail::require_starts(row_starts, column_indices.size(), values.size());
    const auto entry = [&](std::size_t row) { return static_cast<std::size_t>(row_starts[row]); };
    return from_rows(
        teams, row_starts.size() - 1, columns,
        [&](std::size_t row) { return detail::row_length(row_starts, row); },
        [&](std::size_t row, std::span<Index> to_columns, std::span<T> to_values) {
          std::ranges::copy(column_indices.subspan(entry(row), to_columns.size()),
                            to_columns.begin());
          std::ranges::copy(values.subspan(entry(row), to_values.size()), to_values.begin());
        });
  }

  /// Builds a matrix from entries in any order. Entries at the same place are added, in the order
  /// in which they are given. The columns of each row ascend. Needs 8 bytes for each triplet and 16
  /// for each row until it returns. Throws as `from_rows`.
  template <class Teams>
  [[nodiscard]] static sparse_matrix from_triplets(Teams& teams, std::size_t rows,
                                                   std::size_t columns,
                                                   std::span<const triplet<T, Index>> triplets) {
    require_size(rows, columns);
    detail::sorted_triplets sorted(teams, rows, columns, triplets);
    return from_rows(
        teams, rows, columns, [&](std::size_t row) { return sorted.sort(row); },
        [&](std::size_t row, std::span<Index> to_columns, std::span<T> to_values) {
          sorted.write(row, to_columns, to_values);
        });
  }

  /// Uses arrays that other code owns, in the form that `copy` describes: their pages migrate to
  /// the owners of the rows, contents and addresses stay. The arrays must outlive the matrix and
  /// keep their contents, except the values. Throws as `copy`.
  template <class Teams>
  [[nodiscard]] static sparse_matrix
  adopt(Teams& teams, std::size_t columns, std::span<const Offset> row_starts,
        std::span<const Index> column_indices, std::span<const T> values) {
    detail::require_starts(row_starts, column_indices.size(), values.size());
    require_size(row_starts.size() - 1, columns, 0); // the row starts exist
    const std::size_t workers = teams.threads().workers().size();
    teams.on_each_worker([&](const worker& me) {
      const auto rows = arithmetic::blocked(me.number, row_starts.size() - 1, workers);
      for (std::size_t row = rows.first; row < rows.last; ++row) {
        (void)detail::row_length(row_starts, row);
      }
    });
    sparse_matrix made(columns, cut(teams.threads().owners(), row_starts), row_starts,
                       column_indices, values);
    teams.on_each_worker([&](const worker& me) {
      const index_range rows = made.partition_.rows_of(me.number);
      for (std::size_t row = rows.first; row < rows.last; ++row) {
        detail::require_columns(row,
                                column_indices.subspan(static_cast<std::size_t>(row_starts[row]),
                                                       detail::row_length(row_starts, row)),
                                columns);
      }
      made.look_at_part(row_starts, me.number);
    });
    made.choose_order();
    return made;
  }

  /// Returns the number of rows.
  [[nodiscard]] std::size_t rows() const noexcept { return partition_.rows(); }
  /// Returns the number of columns.
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  /// Returns the number of entries.
  [[nodiscard]] std::size_t entries() const noexcept { return values_.elements().size(); }
  /// Returns which worker owns which rows.
  [[nodiscard]] const row_partition& partition() const noexcept { return partition_; }

  /// Returns where the entries of each row begin, and behind the last row where they end.
  [[nodiscard]] std::span<const Offset> row_starts() const noexcept { return starts_.elements(); }
  /// Returns the column of each entry.
  [[nodiscard]] std::span<const Index> column_indices() const noexcept {
    return indices_.elements();
  }
  /// Returns the value of each entry.
  [[nodiscard]] std::span<const T> values() const noexcept { return values_.elements(); }

  /// Returns the entries of a row, which must be less than `rows()`.
  [[nodiscard]] sparse_row<T, Index> row(std::size_t row) const noexcept {
    const auto first = static_cast<std::size_t>(row_starts()[row]);
    const std::size_t entries = static_cast<std::size_t>(row_starts()[row + 1]) - first;
    return {column_indices().subspan(first, entries), values().subspan(first, entries)};
  }
  /// Returns a cut of the rows by the same costs, in which workers begin at multiples of `multiple`
  /// rows, which must not be 0.
  [[nodiscard]] row_partition cut_at(std::size_t multiple) const {
    const auto owners = partition_.owners();
    return cut({owners.begin(), owners.end()}, row_starts(), multiple);
  }

  /// Returns a vector of zeros with `count` elements for each row, on the owners of the rows.
  [[nodiscard]] array<T, weighted_blocks> output_vector(std::size_t count = 1) const {
    return {detail::elements_for(rows(), count), partition_.by_rows()};
  }
  /// Returns a vector of zeros with `count` elements for each column. The owner of row r has the
  /// element of the column at the same share of the matrix: for a square matrix, column r.
  [[nodiscard]] array<T, weighted_blocks> input_vector(std::size_t count = 1) const {
    return {detail::elements_for(columns_, count), partition_.by_columns(columns_)};
  }

  /// Computes the products of a worker's rows. `multiply` calls it on each worker.
  void products_of(std::size_t worker, const T* x, T* y, detail::row_update<T> update) const {
    const detail::row_method how = {parts_[worker].value.distance, uneven_};
    detail::row_products(arrays(), partition_.rows_of(worker), x, y, update, how);
  }
  /// Computes the products of a worker's rows and `count` vectors. `multiply_many` calls it on each
  /// worker.
  void many_products_of(std::size_t worker, std::size_t count, const T* x, T* y) const {
    detail::many_row_products(arrays(), partition_.rows_of(worker), count, x, y);
  }

  /// Returns where the pages of the three arrays are, compared with the owners of the rows.
  [[nodiscard]] nodewise::residency residency() const {
    nodewise::residency sum = starts_.residency();
    detail::add(sum, indices_.residency());
    detail::add(sum, values_.residency());
    return sum;
  }
  /// Returns a picture of each array, one per line: row starts, columns, values; see `strip`.
  [[nodiscard]] std::string strip(std::size_t columns = default_strip_columns) const {
    return "row starts  " + starts_.strip(columns) + "\ncolumns     " + indices_.strip(columns) +
           "\nvalues      " + values_.strip(columns);
  }

 private:
  sparse_matrix(std::size_t columns, row_partition partition, std::span<const Offset> before)
      : columns_(columns), partition_(std::move(partition)), parts_(partition_.workers()),
        starts_(before.size(), partition_.by_rows()),
        indices_(static_cast<std::size_t>(before.back()), by_entries(before)),
        values_(static_cast<std::size_t>(before.back()), by_entries(before)) {}
  sparse_matrix(std::size_t columns, row_partition partition, std::span<const Offset> starts,
                std::span<const Index> indices, std::span<const T> values)
      : columns_(columns), partition_(std::move(partition)), parts_(partition_.workers()),
        starts_(starts, partition_.by_rows()), indices_(indices, by_entries(starts)),
        values_(values, by_entries(starts)) {}

  /// The bytes that a row moves: its entries, its start, and a load and a store of the result.
  static row_partition cut(std::vector<node_id> owners, std::span<const Offset> before,
                           std::size_t multiple = 1) {
    constexpr std::size_t entry_bytes = sizeof(T) + sizeof(Index);
    constexpr std::size_t row_bytes = sizeof(Offset) + 2 * sizeof(T);
    const auto cost_before = [=](std::size_t row) {
      return static_cast<std::size_t>(before[row]) * entry_bytes + row * row_bytes;
    };
    return row_partition::balanced(std::move(owners), before.size() - 1, cost_before, multiple);
  }

  [[nodiscard]] detail::sparse_rows<T, Index, Offset> arrays() const noexcept {
    return {row_starts().data(), column_indices().data(), values().data(), entries()};
  }

  [[nodiscard]] weighted_blocks by_entries(std::span<const Offset> before) const {
    return partition_.by_elements(
        [&](std::size_t row) { return static_cast<std::size_t>(before[row]); });
  }

  static void require_size(std::size_t rows, std::size_t columns,
                           std::size_t row_bytes = sizeof(Offset)) {
    detail::require_matrix_size(
        rows, columns, static_cast<std::uint64_t>(std::numeric_limits<Index>::max()), row_bytes);
  }

  template <class Fill>
  void build(std::span<const Offset> before, const worker& me, Fill& fill) {
    const index_range rows = partition_.rows_of(me.number);
    const bool last = me.number + 1 == partition_.workers(); // also has the end of the last row
    std::ranges::copy(before.subspan(rows.first, rows.size() + (last ? 1 : 0)),
                      starts_.data() + rows.first);
    for (std::size_t row = rows.first; row < rows.last; ++row) {
      const auto first = static_cast<std::size_t>(before[row]);
      const auto count = static_cast<std::size_t>(before[row + 1]) - first;
      const std::span<Index> indices(indices_.data() + first, count);
      fill(row, indices, std::span<T>(values_.data() + first, count));
      detail::require_columns<Index>(row, indices, columns_);
    }
    look_at_part(before, me.number);
  }

  /// Once the worker's part is complete; others may be unfinished.
  void look_at_part(std::span<const Offset> starts, std::size_t worker) {
    const index_range rows = partition_.rows_of(worker);
    const auto first = static_cast<std::size_t>(starts[rows.first]);
    const auto entries = static_cast<std::size_t>(starts[rows.last]) - first;
    auto& part = parts_[worker].value;
    part.distance = detail::read_distance_of(column_indices().subspan(first, entries), sizeof(T));
    for (std::size_t row = std::max<std::size_t>(rows.first, 1); row < rows.last; ++row) {
      const bool changes = starts[row + 1] - starts[row] != starts[row] - starts[row - 1];
      part.changes += changes ? 1U : 0U;
    }
  }
  /// Once all parts are complete: the bits of products must not depend on the partition.
  void choose_order() {
    std::size_t changes = 0;
    for (const auto& part : parts_) {
      changes += part.value.changes;
    }
    uneven_ = 4 * changes > rows();
  }

  /// What a worker has seen of its part.
  struct part_seen {
    detail::read_distance distance = detail::read_distance::near;
    std::size_t changes = 0; ///< rows that are shorter or longer than the row before
  };

  std::size_t columns_;
  row_partition partition_;
  std::vector<cache_aligned<part_seen>> parts_;
  bool uneven_ = false; ///< see detail::row_method
  detail::placed_elements<Offset> starts_;
  detail::placed_elements<Index> indices_;
  detail::placed_elements<T> values_;
};

} // namespace nodewise::inline v0
