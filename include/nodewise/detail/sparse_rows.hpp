// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products of rows and a vector: the loop of one worker.
#pragma once

#include <cstddef>

#include <nodewise/array.hpp>

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

template <class T, class Index, class Offset>
void row_products(const sparse_rows<T, Index, Offset>& a, index_range rows, const T* x, T* y,
                  row_update<T> update) {
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    T sum = 0;
    for (Offset k = a.starts[row]; k < a.starts[row + 1]; ++k) {
      sum += a.values[k] * x[a.columns[k]];
    }
    update.apply(y[row], sum);
  }
}

} // namespace nodewise::inline v0::detail
