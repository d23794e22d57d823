// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Intel's MKL, if libmkl_rt is found when the program runs: only for the comparison.
#include <dlfcn.h>

#include "sparse_peer.hpp"

namespace nodewise::bench {

namespace {

/// As in mkl_spblas.h.
struct description {
  int type = 20; // SPARSE_MATRIX_TYPE_GENERAL
  int mode = 40; // SPARSE_FILL_MODE_LOWER: not used
  int diagonal = 50;
};
constexpr int from_zero = 0;
constexpr int not_transposed = 10;
constexpr int often = 1000;

template <class F>
F* function(void* library, const char* name) {
  return reinterpret_cast<F*>(::dlsym(library, name));
}

} // namespace

std::function<void(const double*, double*)> mkl_product(const crs& a, const char* library) {
  void* const mkl = ::dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  if (mkl == nullptr) {
    return {};
  }
  const auto create = function<int(void**, int, int, int, int*, int*, int*, double*)>(
      mkl, "mkl_sparse_d_create_csr");
  const auto hint = function<int(void*, int, description, int)>(mkl, "mkl_sparse_set_mv_hint");
  const auto optimize = function<int(void*)>(mkl, "mkl_sparse_optimize");
  const auto multiply =
      function<int(int, double, void*, description, const double*, double, double*)>(
          mkl, "mkl_sparse_d_mv");
  const auto rows = static_cast<int>(a.rows());
  auto* const starts = const_cast<int*>(a.starts.data());
  void* matrix = nullptr; // lives as long as the program
  if (create == nullptr || hint == nullptr || optimize == nullptr || multiply == nullptr ||
      create(&matrix, from_zero, rows, rows, starts, starts + 1, const_cast<int*>(a.columns.data()),
             const_cast<double*>(a.values.data())) != 0) {
    return {};
  }
  hint(matrix, not_transposed, {}, often);
  optimize(matrix);
  return [=](const double* x, double* y) { multiply(not_transposed, 1.0, matrix, {}, x, 0.0, y); };
}

} // namespace nodewise::bench
