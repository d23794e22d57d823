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

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include <nodewise/cache_aligned.hpp>
#include <nodewise/replicated.hpp>
#include <nodewise/sell_matrix.hpp>
#include <nodewise/sparse_matrix.hpp>
#include <nodewise/thread_map.hpp>

namespace nodewise::inline v0 {

/// A matrix whose rows are cut for workers: `sparse_matrix`, `sell_matrix`, `triangular_matrix`.
template <class M>
concept row_matrix = requires(const M& a, typename M::value_type* y) {
  { a.partition() } -> std::same_as<const row_partition&>;
  a.products_of(std::size_t{}, y, y, detail::row_update<typename M::value_type>{});
};

namespace detail {

template <row_matrix M>
using input_of = std::type_identity_t<std::span<const typename M::value_type>>;
template <row_matrix M>
using output_of = std::type_identity_t<std::span<typename M::value_type>>;

template <class Teams, row_matrix M>
void multiply_rows(Teams& teams, const M& a, input_of<M> x, output_of<M> y,
                   row_update<typename M::value_type> update) {
  require_same_teams(a.partition(), teams.threads());
  require_vectors(a.rows(), a.columns(), y.size(), x.size());
  require_apart(std::as_bytes(x), std::as_bytes(y));
  teams.on_each_worker(
      [&](const worker& me) { a.products_of(me.number, x.data(), y.data(), update); });
}
/// The same with the copy of the worker's node.
template <class Teams, row_matrix M>
void multiply_rows(Teams& teams, const M& a, const replicated<typename M::value_type>& x,
                   output_of<M> y, row_update<typename M::value_type> update) {
  require_same_teams(a.partition(), teams.threads());
  require_vectors(a.rows(), a.columns(), y.size(), x.size());
  for (std::size_t team = 0; team < x.copies(); ++team) {
    require_apart(std::as_bytes(x.copy(team)), std::as_bytes(y));
  }
  teams.on_each_worker(
      [&](const worker& me) { a.products_of(me.number, x.local(me).data(), y.data(), update); });
}

} // namespace detail

/// Computes y = A x. `x` has an element for each column, `y` for each row; they must not overlap.
/// Throws `error` (usage) for vectors of another length or that overlap, and for teams whose
/// workers are not those that the matrix was cut for.
template <class Teams, row_matrix M>
void multiply(Teams& teams, const M& a, detail::input_of<M> x, detail::output_of<M> y) {
  detail::multiply_rows(teams, a, x, y, {});
}
/// The same with a copy of x on each node, which pays if each node reads most of x.
template <class Teams, row_matrix M>
void multiply(Teams& teams, const M& a, const replicated<typename M::value_type>& x,
              detail::output_of<M> y) {
  detail::multiply_rows(teams, a, x, y, {});
}

/// Computes y = y + factor A x. Throws as `multiply`.
template <class Teams, row_matrix M>
void multiply_add(Teams& teams, typename M::value_type factor, const M& a, detail::input_of<M> x,
                  detail::output_of<M> y) {
  detail::multiply_rows(teams, a, x, y, {factor, true});
}
/// The same with a copy of x on each node.
template <class Teams, row_matrix M>
void multiply_add(Teams& teams, typename M::value_type factor, const M& a,
                  const replicated<typename M::value_type>& x, detail::output_of<M> y) {
  detail::multiply_rows(teams, a, x, y, {factor, true});
}

/// Computes Y = A X for `count` vectors at once, which reads the matrix once for all of them.
/// Element i of vector k is at `i * count + k` in `x` and `y`; `a.input_vector(count)` and
/// `a.output_vector(count)` have this form. Throws `error` (usage) for 0 vectors, and as
/// `multiply`.
template <class Teams, class T, class Index, class Offset>
void multiply_many(Teams& teams, const sparse_matrix<T, Index, Offset>& a, std::size_t count,
                   std::type_identity_t<std::span<const T>> x,
                   std::type_identity_t<std::span<T>> y) {
  detail::require_same_teams(a.partition(), teams.threads());
  detail::require_many_vectors(a.rows(), a.columns(), count, y.size(), x.size());
  detail::require_apart(std::as_bytes(x), std::as_bytes(y));
  teams.on_each_worker(
      [&](const worker& me) { a.many_products_of(me.number, count, x.data(), y.data()); });
}

/// Returns the share of the entries that find their element of `a.input_vector()` on their own
/// node, 0..1; 1 for no entries. Entries that share a cache line count each; `choose_input` counts
/// lines, and compares placements. Reads all column indices once. Throws `error` (usage) for teams
/// that did not build the matrix.
template <class Teams, class T, class Index, class Offset>
[[nodiscard]] double input_locality(Teams& teams, const sparse_matrix<T, Index, Offset>& a) {
  const row_partition& partition = a.partition();
  detail::require_same_teams(partition, teams.threads());
  std::vector<cache_aligned<std::size_t>> local(partition.workers());
  teams.on_each_worker([&](const worker& me) {
    const index_range rows = partition.rows_of(me.number);
    std::size_t count = 0;
    for (std::size_t row = rows.first; row < rows.last; ++row) {
      for (const Index column : a.row(row).columns) {
        const node_id owner =
            partition.owner_of_column(static_cast<std::size_t>(column), a.columns());
        count += owner == me.node ? 1U : 0U;
      }
    }
    local[me.number].value = count;
  });
  std::size_t all = 0;
  for (const auto& each : local) {
    all += each.value;
  }
  return a.entries() == 0 ? 1.0 : static_cast<double>(all) / static_cast<double>(a.entries());
}

} // namespace nodewise::inline v0
