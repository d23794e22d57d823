// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products of rows and a vector: the loop of one worker.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <nodewise/array.hpp>
#include <nodewise/detail/sparse/read_distance.hpp>
#include <nodewise/export.hpp>

namespace nodewise::inline v0::detail {

/// The arrays of a matrix in compressed rows.
template <class T, class Index, class Offset>
struct sparse_rows {
  const Offset* starts = nullptr;
  const Index* columns = nullptr;
  const T* values = nullptr;
  std::size_t entries = 0; ///< of all rows
};

/// How a worker's rows are multiplied.
struct row_method {
  read_distance distance = read_distance::near; ///< of the worker's part; the bits stay the same
  /// Rows have other lengths than their neighbours, so a processor cannot predict where they end.
  /// One answer for the whole matrix, because the order of additions follows from it.
  bool uneven = false;
};

/// What becomes of a row's sum: y = sum, or y = y + factor * sum.
template <class T>
struct row_update {
  T factor = 1;
  bool add = false;

  void apply(T& y, T sum) const noexcept { y = add ? y + factor * sum : sum; }
};

/// From this length on, the additions of one chain wait for each other longer than short rows take.
/// On a Zen 5, four chains make rows of 64 entries twice as fast, and rows of 8 and 16 no faster.
inline constexpr std::size_t long_row = 24;

/// Asks for the entries that rows read after these; see read_distance. Products that do more with
/// an entry than to add it up take 0.7 to 0.8 of the time, or the same if all is in the cache.
template <class T, class Index>
void ask_ahead(const T* values, const Index* columns, std::size_t entries) noexcept {
  for (std::size_t k = 0; k < entries; k += line_bytes / sizeof(T)) {
    __builtin_prefetch(values + k + entry_prefetch_distance);
    __builtin_prefetch(columns + k + entry_prefetch_distance);
  }
}

/// y = sums, or y += factor * sums. The order of a row's additions depends on its length only.
/// Short rows of a matrix in the cache take 0.8 of the usual loop's time, because `k` runs through
/// all rows.
template <class T, class Index, class Offset>
void plain_row_products(const sparse_rows<T, Index, Offset>& a, index_range rows, const T* x, T* y,
                        row_update<T> update, bool ahead) {
  const T* const values = a.values;
  Offset k = a.starts[rows.first];
  const auto element = [&](Offset entry) { return x[a.columns[entry]]; };
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    const Offset end = a.starts[row + 1];
    T sum = 0;
    if (ahead) {
      ask_ahead(values + k, a.columns + k, static_cast<std::size_t>(end - k));
    }
    if (static_cast<std::size_t>(end - k) >= long_row) {
      T sum1 = 0;
      T sum2 = 0;
      T sum3 = 0;
      for (; k + 4 <= end; k += 4) {
        sum += values[k] * element(k);
        sum1 += values[k + 1] * element(k + 1);
        sum2 += values[k + 2] * element(k + 2);
        sum3 += values[k + 3] * element(k + 3);
      }
      sum = (sum + sum1) + (sum2 + sum3);
    }
    for (; k < end; ++k) {
      sum += values[k] * element(k);
    }
    update.apply(y[row], sum);
  }
}

// The same with the vectors that this processor has, in src/sparse/row_kernels.cpp.

template <class T, class Offset>
using vector_rows = sparse_rows<T, std::int32_t, Offset>;

NODEWISE_API void vector_row_products(const vector_rows<double, std::int32_t>& a, index_range rows,
                                      const double* x, double* y, row_update<double> update,
                                      row_method how) noexcept;
NODEWISE_API void vector_row_products(const vector_rows<double, std::int64_t>& a, index_range rows,
                                      const double* x, double* y, row_update<double> update,
                                      row_method how) noexcept;
NODEWISE_API void vector_row_products(const vector_rows<float, std::int32_t>& a, index_range rows,
                                      const float* x, float* y, row_update<float> update,
                                      row_method how) noexcept;
NODEWISE_API void vector_row_products(const vector_rows<float, std::int64_t>& a, index_range rows,
                                      const float* x, float* y, row_update<float> update,
                                      row_method how) noexcept;

template <class T, class Index, class Offset>
inline constexpr bool has_vector_rows =
    (std::is_same_v<T, double> || std::is_same_v<T, float>) &&
    std::is_same_v<Index, std::int32_t> &&
    (std::is_same_v<Offset, std::int32_t> || std::is_same_v<Offset, std::int64_t>);

template <class T, class Index, class Offset>
void row_products(const sparse_rows<T, Index, Offset>& a, index_range rows, const T* x, T* y,
                  row_update<T> update, row_method how) {
  if constexpr (has_vector_rows<T, Index, Offset>) {
    vector_row_products(a, rows, x, y, update, how);
  } else {
    plain_row_products(a, rows, x, y, update, how.distance != read_distance::near);
  }
}

/// The sum of the products of two dense rows. Its order depends on the number of elements only.
/// Four sums do not wait for each other, and need no compiler that makes vectors of them.
template <class T>
T dense_sum(const T* a, const T* x, std::size_t elements) {
  T sum = 0;
  T sum1 = 0;
  T sum2 = 0;
  T sum3 = 0;
  std::size_t k = 0;
  for (; k + 4 <= elements; k += 4) {
    sum += a[k] * x[k];
    sum1 += a[k + 1] * x[k + 1];
    sum2 += a[k + 2] * x[k + 2];
    sum3 += a[k + 3] * x[k + 3];
  }
  sum = (sum + sum1) + (sum2 + sum3);
  for (; k < elements; ++k) {
    sum += a[k] * x[k];
  }
  return sum;
}

/// `Some` of the `count` products of a row, beginning with that of vector `first`.
template <std::size_t Some, class T, class Index, class Offset>
void some_row_products(const sparse_rows<T, Index, Offset>& a, std::size_t row, std::size_t count,
                       std::size_t first, const T* x, T* y) {
  T sums[Some] = {};
  for (Offset k = a.starts[row]; k < a.starts[row + 1]; ++k) {
    const T* const from = x + static_cast<std::size_t>(a.columns[k]) * count + first;
    for (std::size_t v = 0; v < Some; ++v) {
      sums[v] += a.values[k] * from[v];
    }
  }
  std::copy_n(sums, Some, y + row * count + first);
}

template <class T, class Index, class Offset>
void many_row_products(const sparse_rows<T, Index, Offset>& a, index_range rows, std::size_t count,
                       const T* x, T* y) {
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    const Offset k = a.starts[row];
    ask_ahead(a.values + k, a.columns + k, static_cast<std::size_t>(a.starts[row + 1] - k));
    std::size_t first = 0;
    for (; first + 8 <= count; first += 8) { // as many as have their sums in registers
      some_row_products<8>(a, row, count, first, x, y);
    }
    for (; first + 4 <= count; first += 4) {
      some_row_products<4>(a, row, count, first, x, y);
    }
    for (; first + 2 <= count; first += 2) {
      some_row_products<2>(a, row, count, first, x, y);
    }
    for (; first < count; ++first) {
      some_row_products<1>(a, row, count, first, x, y);
    }
  }
}

} // namespace nodewise::inline v0::detail
