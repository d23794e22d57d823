// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The product with a sparse matrix as it is usually written.
#pragma once

#include <cstddef>
#include <vector>

namespace nodewise::bench {

struct crs {
  std::vector<int> starts{0};
  std::vector<int> columns;
  std::vector<double> values;

  std::size_t rows() const { return starts.size() - 1; }
};

/// y = A x
void plain_product(const crs& a, const double* x, double* y);

} // namespace nodewise::bench
