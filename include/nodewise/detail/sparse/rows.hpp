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
/// On a Zen 5, four chains make rows of 64 entries twice as fast, and rows of 8 and 16 no faster.
inline constexpr std::size_t long_row = 24;

// Ways to read the elements of x: `element(k)` is that of the matrix's entry k.

template <class T, class Index>
struct element_reader {
  const T* x;
  const Index* columns;

  template <class Offset>
  T operator()(Offset k) const noexcept {
    return x[columns[k]];
  }
};
/// Asks for a later element, too.
template <class T, class Index>
struct far_element_reader {
  const T* x;
  const Index* columns;
  const Index* last; ///< column of the worker's part

  template <class Offset>
  T operator()(Offset k) const noexcept {
    const Index* const here = columns + k;
    const auto ahead = std::min(static_cast<std::ptrdiff_t>(prefetch_distance), last - here);
    __builtin_prefetch(x + here[ahead]);
    return x[*here];
  }
};

/// y = sums, or y += factor * sums. The order of a row's additions depends on its length only.
/// Short rows of a matrix in the cache take 0.8 of the usual loop's time, because `k` runs through
/// all rows.
template <bool Add, class T, class Offset, class Element>
void sum_rows(const Offset* starts, const T* values, index_range rows, const Element& element, T* y,
              T factor) {
  Offset k = starts[rows.first];
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    const Offset end = starts[row + 1];
    T sum = 0;
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
    y[row] = Add ? y[row] + factor * sum : sum;
  }
}

template <class T, class Offset, class Element>
void sum_rows(const Offset* starts, const T* values, index_range rows, const Element& element, T* y,
              row_update<T> update) {
  if (update.add) {
    sum_rows<true>(starts, values, rows, element, y, update.factor);
  } else {
    sum_rows<false>(starts, values, rows, element, y, update.factor);
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

template <class T, class Index, class Offset>
void near_row_products(const sparse_rows<T, Index, Offset>& a, index_range rows, const T* x, T* y,
                       row_update<T> update) {
  sum_rows(a.starts, a.values, rows, element_reader<T, Index>{x, a.columns}, y, update);
}

template <class T, class Index, class Offset>
void far_row_products(const sparse_rows<T, Index, Offset>& a, index_range rows, const T* x, T* y,
                      row_update<T> update) {
  const Index* const last = a.columns + a.starts[rows.last] - 1;
  sum_rows(a.starts, a.values, rows, far_element_reader<T, Index>{x, a.columns, last}, y, update);
}

/// Gathers the elements of as many rows as fit into the processor's first cache. A longer row reads
/// its elements one by one: its four sums do not wait for each other.
template <class T, class Offset>
void scattered_row_products(const sparse_rows<T, std::int32_t, Offset>& a, index_range rows,
                            const T* x, T* y, row_update<T> update) {
  constexpr std::size_t most = 256;
  alignas(64) T elements[most];
  for (std::size_t row = rows.first; row < rows.last;) {
    const Offset first = a.starts[row];
    std::size_t next = row;
    while (next < rows.last && static_cast<std::size_t>(a.starts[next + 1] - first) <= most) {
      ++next;
    }
    if (next == row) {
      near_row_products(a, {row, row + 1}, x, y, update);
      ++row;
      continue;
    }
    gather(x, {a.columns + first, static_cast<std::size_t>(a.starts[next] - first)}, elements);
    const auto gathered = [&elements, first](Offset k) { return elements[k - first]; };
    sum_rows(a.starts, a.values, {row, next}, gathered, y, update);
    row = next;
  }
}

template <class T, class Index>
inline constexpr bool can_gather =
    std::is_same_v<Index, std::int32_t> && (std::is_same_v<T, double> || std::is_same_v<T, float>);

template <class T, class Index, class Offset>
void row_products(const sparse_rows<T, Index, Offset>& a, index_range rows, const T* x, T* y,
                  row_update<T> update, read_distance distance) {
  if (distance == read_distance::far) {
    far_row_products(a, rows, x, y, update);
    return;
  }
  if constexpr (can_gather<T, Index>) {
    if (distance == read_distance::scattered) {
      scattered_row_products(a, rows, x, y, update);
      return;
    }
  }
  near_row_products(a, rows, x, y, update);
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
