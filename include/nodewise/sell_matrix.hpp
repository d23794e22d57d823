// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A sparse matrix in SELL-C-sigma: chunks of rows in which vectors of the processor run across the
// rows, so that short rows use whole vectors.
//
//     #include <nodewise/openmp.hpp>
//     #include <nodewise/sparse_multiply.hpp>
//
//     nodewise::openmp_teams teams;
//     const std::vector<nodewise::triplet<double>> entries{{0, 0, 2.0}, {0, 1, 1.0}, {1, 1, 3.0}};
//     const auto rows = nodewise::sparse_matrix<double>::from_triplets(teams, 2, 2, entries);
//     const auto a = nodewise::sell_matrix<double>::from(teams, rows);
//     const std::vector<double> x{1.0, 1.0};
//     auto y = a.output_vector();
//     nodewise::multiply(teams, a, x, y);
//     std::printf("%g %g, %.2f of the elements are entries\n", y[0], y[1], a.occupancy());
//
// Source: Kreutzer, Hager, Wellein, Fehske and Bishop, SIAM J. Sci. Comput. 36 (2014) C401. It
// succeeds the jagged diagonals of Hager and Wellein, section 8.2.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include <nodewise/detail/sparse/sell_chunks.hpp>
#include <nodewise/sparse_matrix.hpp>

namespace nodewise::inline v0 {

/// The two parameters of SELL-C-sigma, in rows.
struct sell_options {
  /// Rows in a chunk (C), up to 256; 0: 128 bytes of values, two of the widest vectors.
  std::size_t chunk_rows = 0;
  /// Rows that are sorted by length together (sigma). More rows need less padding, but separate
  /// rows that read the same elements of the input vector. Rounded up to whole chunks, but 0 and 1
  /// keep the order.
  std::size_t sorted_rows = 256;
};

namespace detail {

/// Returns the options with numbers for what is left open. Throws `error` (usage) for chunks of
/// more than 256 rows, and for more rows than the index type counts.
[[nodiscard]] NODEWISE_API sell_options resolved(sell_options options, std::size_t value_bytes,
                                                 std::size_t rows, std::uint64_t most_rows);

} // namespace detail

/// A sparse matrix in SELL-C-sigma. Rows of a chunk are padded to its longest row, with zeros in
/// the column of the row's last entry. So if that element of the input vector is not finite, an
/// infinite result may become NaN. Chunks never cross the cut between two workers. Movable, not
/// copyable.
template <std::floating_point T, std::signed_integral Index = std::int32_t>
class sell_matrix {
 public:
  using value_type = T;
  using index_type = Index;

  /// Converts a matrix in compressed rows; workers convert their own rows in parallel. The rows are
  /// cut by the same costs, at whole chunks. Throws `error`: (usage) for chunks of more than 256
  /// rows, more rows than `Index` counts, and teams that did not build `rows`; (system) if memory
  /// runs out.
  template <class Teams, std::integral Offset>
  [[nodiscard]] static sell_matrix from(Teams& teams, const sparse_matrix<T, Index, Offset>& rows,
                                        sell_options options = {}) {
    detail::require_same_teams(rows.partition(), teams.threads());
    options = detail::resolved(options, sizeof(T), rows.rows(),
                               static_cast<std::uint64_t>(std::numeric_limits<Index>::max()));
    const std::size_t chunk_rows = options.chunk_rows;
    const auto before_chunk = [&](std::size_t row) {
      return arithmetic::pages_for(row, chunk_rows);
    };
    row_partition partition = rows.cut_at(chunk_rows);
    const std::size_t chunks = before_chunk(rows.rows());
    detail::placed_elements<Index> places(
        chunks * chunk_rows,
        partition.by_elements([&](std::size_t row) { return before_chunk(row) * chunk_rows; }));
    teams.on_each_worker([&](const worker& me) {
      const index_range mine = partition.rows_of(me.number);
      const std::size_t first = before_chunk(mine.first) * chunk_rows;
      detail::sort_places(
          rows.row_starts(), mine, options.sorted_rows,
          std::span<Index>(places.data() + first, before_chunk(mine.last) * chunk_rows - first));
    });
    const auto padded = [&](std::size_t chunk) {
      return detail::padded_elements(rows.row_starts(),
                                     places.elements().subspan(chunk * chunk_rows, chunk_rows));
    };
    const detail::row_starts<std::int64_t> before(teams, chunks, padded);
    sell_matrix made(rows.columns(), rows.entries(), chunk_rows, std::move(partition),
                     std::move(places), before.all());
    teams.on_each_worker([&](const worker& me) { made.build(rows, before.all(), me); });
    return made;
  }

  /// Returns the number of rows.
  [[nodiscard]] std::size_t rows() const noexcept { return partition_.rows(); }
  /// Returns the number of columns.
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  /// Returns the number of entries, without padding.
  [[nodiscard]] std::size_t entries() const noexcept { return entries_; }
  /// Returns the share of the stored elements that are entries, 0..1; 1 for no elements.
  [[nodiscard]] double occupancy() const noexcept {
    const std::size_t stored = values_.elements().size();
    return stored == 0 ? 1.0 : static_cast<double>(entries_) / static_cast<double>(stored);
  }
  /// Returns the number of rows in a chunk.
  [[nodiscard]] std::size_t chunk_rows() const noexcept { return chunk_rows_; }
  /// Returns which worker owns which rows.
  [[nodiscard]] const row_partition& partition() const noexcept { return partition_; }

  /// Returns a vector of zeros with an element for each row, on the owners of the rows.
  [[nodiscard]] array<T, weighted_blocks> output_vector() const {
    return {rows(), partition_.by_rows()};
  }
  /// Returns a vector of zeros with an element for each column; see `sparse_matrix::input_vector`.
  [[nodiscard]] array<T, weighted_blocks> input_vector() const {
    return {columns_, partition_.by_columns(columns_)};
  }

  /// Returns where the pages of the four arrays are, compared with the owners of the rows.
  [[nodiscard]] nodewise::residency residency() const {
    nodewise::residency sum = places_.residency();
    detail::add(sum, starts_.residency());
    detail::add(sum, indices_.residency());
    detail::add(sum, values_.residency());
    return sum;
  }
  /// Returns a picture of each array, one per line: rows, chunks, columns, values; see `strip`.
  [[nodiscard]] std::string strip(std::size_t columns = default_strip_columns) const {
    return "rows         " + places_.strip(columns) + "\nchunk starts " + starts_.strip(columns) +
           "\ncolumns      " + indices_.strip(columns) + "\nvalues       " + values_.strip(columns);
  }

  /// Computes the products of a worker's rows. `multiply` calls it on each worker.
  void products_of(std::size_t worker, const T* x, T* y, detail::row_update<T> update) const {
    const detail::sell_chunks<T, Index> all{starts_.elements().data(), indices_.elements().data(),
                                            values_.elements().data(), places_.elements().data(),
                                            chunk_rows_};
    detail::chunk_products(all, chunks_of(worker), x, y, update, distances_[worker].value);
  }

 private:
  sell_matrix(std::size_t columns, std::size_t entries, std::size_t chunk_rows,
              row_partition partition, detail::placed_elements<Index> places,
              std::span<const std::int64_t> before)
      : columns_(columns), entries_(entries), chunk_rows_(chunk_rows),
        partition_(std::move(partition)), distances_(partition_.workers()),
        places_(std::move(places)),
        starts_(before.size(),
                partition_.by_elements([this](std::size_t row) { return chunk_of(row); })),
        indices_(static_cast<std::size_t>(before.back()), by_elements(before)),
        values_(static_cast<std::size_t>(before.back()), by_elements(before)) {}

  [[nodiscard]] std::size_t chunk_of(std::size_t row) const noexcept {
    return arithmetic::pages_for(row, chunk_rows_);
  }
  [[nodiscard]] index_range chunks_of(std::size_t worker) const noexcept {
    const index_range rows = partition_.rows_of(worker);
    return {chunk_of(rows.first), chunk_of(rows.last)};
  }
  [[nodiscard]] weighted_blocks by_elements(std::span<const std::int64_t> before) const {
    return partition_.by_elements(
        [&](std::size_t row) { return static_cast<std::size_t>(before[chunk_of(row)]); });
  }

  template <class Offset>
  void build(const sparse_matrix<T, Index, Offset>& from, std::span<const std::int64_t> before,
             const worker& me) {
    const index_range chunks = chunks_of(me.number);
    const bool last = me.number + 1 == partition_.workers(); // also has the end of the last chunk
    std::ranges::copy(before.subspan(chunks.first, chunks.size() + (last ? 1 : 0)),
                      starts_.data() + chunks.first);
    for (std::size_t chunk = chunks.first; chunk < chunks.last; ++chunk) {
      const auto first = static_cast<std::size_t>(before[chunk]);
      const std::size_t length =
          (static_cast<std::size_t>(before[chunk + 1]) - first) / chunk_rows_;
      for (std::size_t i = 0; i < chunk_rows_; ++i) {
        const Index place = places_.elements()[chunk * chunk_rows_ + i];
        write_row(place == detail::sell_place<Index>::none
                      ? sparse_row<T, Index>{}
                      : from.row(detail::sell_place<Index>::row(place)),
                  length, first + i);
      }
    }
    const auto first = static_cast<std::size_t>(before[chunks.first]);
    const auto elements = static_cast<std::size_t>(before[chunks.last]) - first;
    distances_[me.number].value =
        detail::read_distance_of(indices_.elements().subspan(first, elements), sizeof(T));
  }
  /// Writes a row from element `at` on, and its padding.
  void write_row(sparse_row<T, Index> row, std::size_t length, std::size_t at) {
    for (std::size_t k = 0; k < length; ++k, at += chunk_rows_) {
      const bool entry = k < row.values.size();
      indices_.data()[at] = entry ? row.columns[k] : row.columns.empty() ? 0 : row.columns.back();
      values_.data()[at] = entry ? row.values[k] : 0;
    }
  }

  std::size_t columns_;
  std::size_t entries_;
  std::size_t chunk_rows_;
  row_partition partition_;
  std::vector<cache_aligned<detail::read_distance>> distances_; ///< of each worker's part
  detail::placed_elements<Index> places_;
  detail::placed_elements<std::int64_t> starts_;
  detail::placed_elements<Index> indices_;
  detail::placed_elements<T> values_;
};

} // namespace nodewise::inline v0
