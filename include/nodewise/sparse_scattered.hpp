// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products in which a row's owner also adds to elements of other owners: with the transposed
// matrix, and with a symmetric matrix of which only the upper half is stored.
//
//     #include <nodewise/openmp.hpp>
//
//     nodewise::openmp_teams teams;
//     const std::vector<nodewise::triplet<double>> half{{0, 0, 2.0}, {0, 1, 1.0}, {1, 1, 3.0}};
//     const auto upper = nodewise::sparse_matrix<double>::from_triplets(teams, 2, 2, half);
//     nodewise::symmetric_product whole(teams, upper);
//     const std::vector<double> x{1.0, 1.0};
//     std::vector<double> y(2);
//     nodewise::multiply(teams, whole, x, y);
//     std::printf("%g %g\n", y[0], y[1]); // 3 4
//
// Each worker adds to a buffer on its node, which covers the elements that its rows reach. Then
// each owner adds up its part of all buffers, in the order of the workers: the same teams and
// matrix give the same bits every time. Buffers are short if entries are near the diagonal; if they
// are anywhere, each is as long as the result, and a second matrix is faster.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <nodewise/detail/sparse/partial_results.hpp>
#include <nodewise/detail/sparse/rows.hpp>
#include <nodewise/sparse_matrix.hpp>

namespace nodewise::inline v0 {

/// The product with a transposed matrix. It refers to the matrix, which must outlive it, and holds
/// the workers' buffers, so that one object serves one product at a time. Movable.
template <std::floating_point T, std::integral Index, std::integral Offset>
class transposed_product {
 public:
  using value_type = T;

  /// Allocates a buffer for each worker, on its node. Throws `error`: (usage) for teams that did
  /// not build `a`, (system) if memory runs out.
  template <class Teams>
  transposed_product(Teams& teams, const sparse_matrix<T, Index, Offset>& a)
      : a_(&a), partial_(teams, a, detail::reach::columns) {}

  /// Returns the matrix.
  [[nodiscard]] const sparse_matrix<T, Index, Offset>& matrix() const noexcept { return *a_; }
  /// Returns the number of rows of the transposed matrix.
  [[nodiscard]] std::size_t rows() const noexcept { return a_->columns(); }
  /// Returns the number of columns of the transposed matrix.
  [[nodiscard]] std::size_t columns() const noexcept { return a_->rows(); }

  /// Adds the products of a worker's rows to its buffer. `multiply` calls it on each worker.
  void add_rows_of(std::size_t worker, const T* x) {
    const auto to = partial_.cleared(worker);
    const index_range rows = a_->partition().rows_of(worker);
    for (std::size_t row = rows.first; row < rows.last; ++row) {
      const auto entries = a_->row(row);
      detail::ask_ahead(entries.values.data(), entries.columns.data(), entries.values.size());
      for (std::size_t k = 0; k < entries.values.size(); ++k) {
        to[static_cast<std::size_t>(entries.columns[k])] += entries.values[k] * x[row];
      }
    }
  }
  /// Writes a worker's part of the result. `multiply` calls it when all buffers are complete.
  void combine(std::size_t worker, T* y) const { partial_.combine(worker, y); }

 private:
  const sparse_matrix<T, Index, Offset>* a_;
  detail::partial_results<T> partial_;
};

/// The product with a symmetric matrix of which the upper half is stored: each entry right of the
/// diagonal also counts as its mirror image. It refers to the matrix, which must outlive it, and
/// holds the workers' buffers, so that one object serves one product at a time. Movable.
template <std::floating_point T, std::integral Index, std::integral Offset>
class symmetric_product {
 public:
  using value_type = T;

  /// Checks the matrix, and allocates a buffer for each worker, on its node. Throws `error`:
  /// (usage) for teams that did not build `upper`, a matrix that is not square, and entries left of
  /// the diagonal; (system) if memory runs out.
  template <class Teams>
  symmetric_product(Teams& teams, const sparse_matrix<T, Index, Offset>& upper)
      : a_(&upper), partial_(teams, upper, detail::reach::rows_and_columns) {
    detail::require_square(upper.rows(), upper.columns());
    teams.on_each_worker([&](const worker& me) {
      const index_range rows = upper.partition().rows_of(me.number);
      for (std::size_t row = rows.first; row < rows.last; ++row) {
        for (const Index column : upper.row(row).columns) {
          if (std::cmp_less(column, row)) {
            detail::refuse_lower_half(row, static_cast<std::size_t>(column));
          }
        }
      }
    });
  }

  /// Returns the matrix.
  [[nodiscard]] const sparse_matrix<T, Index, Offset>& matrix() const noexcept { return *a_; }
  /// Returns the number of rows.
  [[nodiscard]] std::size_t rows() const noexcept { return a_->rows(); }
  /// Returns the number of columns.
  [[nodiscard]] std::size_t columns() const noexcept { return a_->columns(); }

  /// Adds the products of a worker's rows to its buffer. `multiply` calls it on each worker.
  void add_rows_of(std::size_t worker, const T* x) {
    const auto to = partial_.cleared(worker);
    const index_range rows = a_->partition().rows_of(worker);
    for (std::size_t row = rows.first; row < rows.last; ++row) {
      const auto entries = a_->row(row);
      detail::ask_ahead(entries.values.data(), entries.columns.data(), entries.values.size());
      T sum = 0;
      for (std::size_t k = 0; k < entries.values.size(); ++k) {
        const auto column = static_cast<std::size_t>(entries.columns[k]);
        sum += entries.values[k] * x[column];
        if (column != row) {
          to[column] += entries.values[k] * x[row];
        }
      }
      to[row] += sum;
    }
  }
  /// Writes a worker's part of the result. `multiply` calls it when all buffers are complete.
  void combine(std::size_t worker, T* y) const { partial_.combine(worker, y); }

 private:
  const sparse_matrix<T, Index, Offset>* a_;
  detail::partial_results<T> partial_;
};

/// A product with buffers: `transposed_product` and `symmetric_product`.
template <class P>
concept scattered_product = requires(P& p, typename P::value_type* y) {
  p.add_rows_of(std::size_t{}, y);
  p.combine(std::size_t{}, y);
};

/// Computes y = A x for a product with buffers. Throws `error` (usage) for vectors of another
/// length or that overlap, and for teams that did not build the matrix.
template <class Teams, scattered_product P>
void multiply(Teams& teams, P& product,
              std::type_identity_t<std::span<const typename P::value_type>> x,
              std::type_identity_t<std::span<typename P::value_type>> y) {
  detail::require_same_teams(product.matrix().partition(), teams.threads());
  detail::require_vectors(product.rows(), product.columns(), y.size(), x.size());
  detail::require_apart(std::as_bytes(x), std::as_bytes(y));
  teams.on_each_worker([&](const worker& me) { product.add_rows_of(me.number, x.data()); });
  teams.on_each_worker([&](const worker& me) { product.combine(me.number, y.data()); });
}

} // namespace nodewise::inline v0
