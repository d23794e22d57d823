// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A dense triangular matrix whose rows are on the nodes of the workers that multiply them.
//
//     #include <nodewise/openmp.hpp>
//     #include <nodewise/sparse_multiply.hpp>
//
//     nodewise::openmp_teams teams;
//     const auto fill = [](std::size_t, std::span<double> row) { std::ranges::fill(row, 1.0); };
//     const auto a = nodewise::triangular_matrix<double>::from_rows(
//         teams, nodewise::triangle::lower, 3, fill);
//     const std::vector<double> x{1.0, 1.0, 1.0};
//     auto y = a.output_vector();
//     nodewise::multiply(teams, a, x, y);
//     std::printf("%g %g %g\n", y[0], y[1], y[2]); // 1 2 3
//
// Rows get longer or shorter, so equal blocks of rows would give one worker nearly twice the mean
// of the work. The rows are cut as those of sparse matrices are: by the bytes that they move.
// Source: Hager and Wellein, problem 8.4.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nodewise/detail/sparse/checks.hpp>
#include <nodewise/detail/sparse/placed_elements.hpp>
#include <nodewise/detail/sparse/rows.hpp>
#include <nodewise/row_partition.hpp>

namespace nodewise::inline v0 {

/// Which half of a square matrix is stored, with the diagonal. The other half is zero.
enum class triangle {
  lower, ///< row r has columns 0 to r
  upper, ///< row r has columns r to the last
};

/// A dense triangular matrix. Its rows are stored one behind the other without gaps (packed), which
/// is half of a square, and needs no row starts: the row's number gives its place. Only pages at
/// the cuts hold rows of two workers. Movable, not copyable.
template <std::floating_point T>
class triangular_matrix {
 public:
  using value_type = T;

  /// Builds a matrix of `rows` rows and columns. `fill(row, std::span<T> values)` writes the stored
  /// elements of a row, in the order of the columns; each worker calls it for its own rows. Throws
  /// `error`: (usage) for 0 rows or more than the machine has memory for, (system) if memory runs
  /// out; and what `fill` throws.
  template <class Teams, class Fill>
  [[nodiscard]] static triangular_matrix from_rows(Teams& teams, triangle half, std::size_t rows,
                                                   Fill&& fill) {
    detail::require_matrix_size(rows, rows, std::numeric_limits<std::uint64_t>::max(),
                                detail::elements_for(rows / 2, sizeof(T)));
    triangular_matrix made(half, cut(teams.threads().owners(), half, rows));
    teams.on_each_worker([&](const worker& me) {
      const index_range mine = made.partition_.rows_of(me.number);
      for (std::size_t row = mine.first; row < mine.last; ++row) {
        const std::size_t first = made.before(row);
        fill(row, std::span<T>(made.values_.data() + first, made.before(row + 1) - first));
      }
    });
    return made;
  }

  /// Returns the number of rows.
  [[nodiscard]] std::size_t rows() const noexcept { return partition_.rows(); }
  /// Returns the number of columns: that of the rows.
  [[nodiscard]] std::size_t columns() const noexcept { return rows(); }
  /// Returns which half is stored.
  [[nodiscard]] triangle half() const noexcept { return half_; }
  /// Returns which worker owns which rows.
  [[nodiscard]] const row_partition& partition() const noexcept { return partition_; }
  /// Returns all stored elements, row by row.
  [[nodiscard]] std::span<const T> values() const noexcept { return values_.elements(); }
  /// Returns the stored elements of a row, which must be less than `rows()`.
  [[nodiscard]] std::span<const T> row(std::size_t row) const noexcept {
    return values().subspan(before(row), before(row + 1) - before(row));
  }
  /// Returns the column of the first stored element of a row.
  [[nodiscard]] std::size_t first_column(std::size_t row) const noexcept {
    return half_ == triangle::lower ? 0 : row;
  }

  /// Returns a vector of zeros with an element for each row, on the owners of the rows.
  [[nodiscard]] array<T, weighted_blocks> output_vector() const {
    return {rows(), partition_.by_rows()};
  }
  /// Returns a vector of zeros with an element for each column, on the owners of the rows of the
  /// same number. All nodes read most of it, but it is short against the matrix.
  [[nodiscard]] array<T, weighted_blocks> input_vector() const { return output_vector(); }

  /// Computes the products of a worker's rows. `multiply` calls it on each worker.
  void products_of(std::size_t worker, const T* x, T* y, detail::row_update<T> update) const {
    const index_range mine = partition_.rows_of(worker);
    for (std::size_t r = mine.first; r < mine.last; ++r) {
      const std::span<const T> elements = row(r);
      update.apply(y[r], detail::dense_sum(elements.data(), x + first_column(r), elements.size()));
    }
  }

  /// Returns where the pages of the matrix are, compared with the owners of the rows.
  [[nodiscard]] nodewise::residency residency() const { return values_.residency(); }
  /// Returns a picture of the matrix's memory; see `strip`.
  [[nodiscard]] std::string strip(std::size_t columns = default_strip_columns) const {
    return values_.strip(columns);
  }

 private:
  triangular_matrix(triangle half, row_partition partition)
      : half_(half), partition_(std::move(partition)),
        values_(detail::elements_of_triangle(partition_.rows()),
                partition_.by_elements([this](std::size_t row) { return before(row); })) {}

  [[nodiscard]] std::size_t before(std::size_t row) const noexcept {
    return elements_before(half_, row, partition_.rows());
  }
  /// The number of stored elements of all rows before `row`.
  static std::size_t elements_before(triangle half, std::size_t row, std::size_t rows) noexcept {
    return half == triangle::lower
               ? detail::elements_of_triangle(row)
               : detail::elements_of_triangle(rows) - detail::elements_of_triangle(rows - row);
  }
  /// The bytes that a row moves: its elements, and a load and a store of the result.
  static row_partition cut(std::vector<node_id> owners, triangle half, std::size_t rows) {
    return row_partition::balanced(std::move(owners), rows, [=](std::size_t row) {
      return (elements_before(half, row, rows) + 2 * row) * sizeof(T);
    });
  }

  triangle half_;
  row_partition partition_;
  detail::placed_elements<T> values_;
};

} // namespace nodewise::inline v0
