// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products of a sparse matrix and vectors. Each row is computed by its owner.
//
//     #include <nodewise/openmp.hpp>
//
//     nodewise::openmp_teams teams;
//     const std::vector<nodewise::triplet<double>> entries{{0, 0, 2.0}, {0, 1, 1.0}, {1, 1, 3.0}};
//     const auto a = nodewise::sparse_matrix<double>::from_triplets(teams, 2, 2, entries);
//     auto x = a.input_vector();
//     auto y = a.output_vector();
//     teams.fill(x, 1.0);
//     nodewise::multiply(teams, a, x, y);
//     std::printf("%g %g\n", y[0], y[1]);
//
// A row's sum is computed in one order, which depends on neither the number of workers nor the
// placement: the same processor gives the same bits every time.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include <nodewise/detail/sparse_rows.hpp>
#include <nodewise/replicated.hpp>
#include <nodewise/sparse_matrix.hpp>
#include <nodewise/thread_map.hpp>

namespace nodewise::inline v0 {

namespace detail {

NODEWISE_API void require_same_teams(const row_partition& partition, const thread_map& threads);
NODEWISE_API void require_vectors(std::size_t rows, std::size_t columns, std::size_t rows_of_y,
                                  std::size_t columns_of_x);
NODEWISE_API void require_apart(std::span<const std::byte> x, std::span<const std::byte> y);

/// The input vector as a worker reads it.
template <class T>
std::span<const T> input_of(std::span<const T> x, const worker&) noexcept {
  return x;
}
template <class T>
std::span<const T> input_of(const replicated<T>& x, const worker& me) noexcept {
  return x.local(me);
}

template <class T>
void require_all_apart(std::span<const T> x, std::span<T> y) {
  require_apart(std::as_bytes(x), std::as_bytes(y));
}
template <class T>
void require_all_apart(const replicated<T>& x, std::span<T> y) {
  for (std::size_t team = 0; team < x.copies(); ++team) {
    require_apart(std::as_bytes(x.copy(team)), std::as_bytes(y));
  }
}

template <class Teams, class T, class Index, class Offset, class X>
void multiply_rows(Teams& teams, const sparse_matrix<T, Index, Offset>& a, const X& x,
                   std::span<T> y, row_update<T> update) {
  require_same_teams(a.partition(), teams.threads());
  require_vectors(a.rows(), a.columns(), y.size(), x.size());
  require_all_apart(x, y);
  const sparse_rows<T, Index, Offset> all{a.row_starts().data(), a.column_indices().data(),
                                          a.values().data()};
  teams.on_each_worker([&](const worker& me) {
    const index_range rows = a.partition().rows_of(me.number);
    row_products(all, rows, input_of(x, me).data(), y.data(), update);
  });
}

} // namespace detail

/// Computes y = A x. `x` has an element for each column, `y` for each row; they must not overlap.
/// Throws `error` (usage) for vectors of another length or that overlap, and for teams whose
/// workers are not those that the matrix was cut for.
template <class Teams, class T, class Index, class Offset>
void multiply(Teams& teams, const sparse_matrix<T, Index, Offset>& a,
              std::type_identity_t<std::span<const T>> x, std::type_identity_t<std::span<T>> y) {
  detail::multiply_rows(teams, a, x, y, {});
}
/// The same with a copy of x on each node, which pays if each node reads most of x.
template <class Teams, class T, class Index, class Offset>
void multiply(Teams& teams, const sparse_matrix<T, Index, Offset>& a, const replicated<T>& x,
              std::type_identity_t<std::span<T>> y) {
  detail::multiply_rows(teams, a, x, y, {});
}

/// Computes y = y + factor A x. Throws as `multiply`.
template <class Teams, class T, class Index, class Offset>
void multiply_add(Teams& teams, std::type_identity_t<T> factor,
                  const sparse_matrix<T, Index, Offset>& a,
                  std::type_identity_t<std::span<const T>> x,
                  std::type_identity_t<std::span<T>> y) {
  detail::multiply_rows(teams, a, x, y, {factor, true});
}
/// The same with a copy of x on each node.
template <class Teams, class T, class Index, class Offset>
void multiply_add(Teams& teams, std::type_identity_t<T> factor,
                  const sparse_matrix<T, Index, Offset>& a, const replicated<T>& x,
                  std::type_identity_t<std::span<T>> y) {
  detail::multiply_rows(teams, a, x, y, {factor, true});
}

} // namespace nodewise::inline v0
