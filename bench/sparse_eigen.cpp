// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Eigen's product in compressed rows, on OpenMP's threads. Compiled with -O3 -march=native.
#include <Eigen/Sparse>

#include "sparse_peer.hpp"

namespace nodewise::bench {

void eigen_product(const crs& a, const double* x, double* y) {
  const auto rows = static_cast<Eigen::Index>(a.rows());
  const auto columns = rows; // all matrices here are square
  const Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor>> matrix(
      rows, columns, static_cast<Eigen::Index>(a.values.size()), a.starts.data(), a.columns.data(),
      a.values.data());
  const Eigen::Map<const Eigen::VectorXd> from(x, columns);
  Eigen::Map<Eigen::VectorXd> to(y, rows);
  to.noalias() = matrix * from;
}

} // namespace nodewise::bench
