// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products of rows and a vector: the loop of one worker.
#pragma once

#include <algorithm>
#include <cstddef>

#include <nodewise/array.hpp>
#include <nodewise/detail/sparse/far_reads.hpp>

namespace nodewise::inline v0::detail {

/// The arrays of a matrix in compressed rows.
template <class T, class Index, class Offset>
struct sparse_rows {
  const Offset* starts = nullptr;
  const Index* columns = nullptr;
  const T* values = nullptr;
};

/// What becomes of a row's sum: y = sum, or y = y + factor * sum.
template <class T>
struct row_update {
  T factor = 1;
  bool add = false;

  void apply(T& y, T sum) const noexcept { y = add ? y + factor * sum : sum; }
};

/// From this length on, the additions of one chain wait for each other longer than short rows take.
/// On a Zen 5, four chains make rows of 64 entries twice as fast, and rows of 8 no faster; gathers
/// were slower than single loads at every length, so this loop needs no vectors.
inline constexpr std::size_t long_row = 32;

/// Asks for the elements of x that entries read soon.
template <class T, class Index>
struct prefetch_ahead {
  const Index* last; ///< the last column index of the part

  void operator()(const Index* at, const T* x) const noexcept {
    const auto ahead = std::min(static_cast<std::ptrdiff_t>(prefetch_distance), last - at);
    __builtin_prefetch(x + at[ahead]);
  }
};
/// Reads near the last ones need no request.
template <class T, class Index>
struct no_prefetch {
  void operator()(const Index* /*at*/, const T* /*x*/) const noexcept {}
};

/// The sum of a row's products. Its order depends on the length of the row only.
template <class T, class Index, class Prefetch>
T row_sum(const T* values, const Index* columns, std::size_t entries, const T* x,
          const Prefetch& prefetch) {
  T sum = 0;
  std::size_t k = 0;
  if (entries >= long_row) {
    T sum1 = 0;
    T sum2 = 0;
    T sum3 = 0;
    for (; k + 4 <= entries; k += 4) {
      for (std::size_t i = 0; i < 4; ++i) {
        prefetch(columns + k + i, x);
      }
      sum += values[k] * x[columns[k]];
      sum1 += values[k + 1] * x[columns[k + 1]];
      sum2 += values[k + 2] * x[columns[k + 2]];
      sum3 += values[k + 3] * x[columns[k + 3]];
    }
    sum = (sum + sum1) + (sum2 + sum3);
  }
  for (; k < entries; ++k) {
    prefetch(columns + k, x);
    sum += values[k] * x[columns[k]];
  }
  return sum;
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

template <class T, class Index, class Offset, class Prefetch>
void row_products(const sparse_rows<T, Index, Offset>& a, index_range rows, const T* x, T* y,
                  row_update<T> update, const Prefetch& prefetch) {
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    const Offset first = a.starts[row];
    const auto entries = static_cast<std::size_t>(a.starts[row + 1] - first);
    update.apply(y[row], row_sum(a.values + first, a.columns + first, entries, x, prefetch));
  }
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
    std::size_t first = 0;
    for (; first + 8 <= count; first += 8) { // as many as have their sums in registers
      some_row_products<8>(a, row, count, first, x, y);
    }
    for (; first + 4 <= count; first += 4) {
      some_row_products<4>(a, row, count, first, x, y);
    }
    for (; first < count; ++first) {
      some_row_products<1>(a, row, count, first, x, y);
    }
  }
}

} // namespace nodewise::inline v0::detail
