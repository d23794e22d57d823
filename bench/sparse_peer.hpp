// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products with a sparse matrix: as it is usually written, and by other libraries.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace nodewise::bench {

struct crs {
  std::vector<int> starts{0};
  std::vector<int> columns;
  std::vector<double> values;

  std::size_t rows() const { return starts.size() - 1; }
};

// y = A x, for square matrices.

void plain_product(const crs& a, const double* x, double* y);
#ifdef NODEWISE_WITH_EIGEN
void eigen_product(const crs& a, const double* x, double* y);
#endif
/// Prepared for many products; empty if the library cannot be loaded.
std::function<void(const double* x, double* y)> mkl_product(const crs& a, const char* library);

} // namespace nodewise::bench
