// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Compiled with -O3 -march=native, as a user would.
#include "sparse_peer.hpp"

namespace nodewise::bench {

void plain_product(const crs& a, const double* x, double* y) {
  const std::size_t rows = a.rows();
  const int* const starts = a.starts.data();
  const int* const columns = a.columns.data();
  const double* const values = a.values.data();
#pragma omp parallel for schedule(static)
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; ++k) {
      sum += values[k] * x[columns[k]];
    }
    y[row] = sum;
  }
}

} // namespace nodewise::bench
