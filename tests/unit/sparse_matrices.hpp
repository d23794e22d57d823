// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Matrices and the plainest product, to compare with.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <nodewise/sparse_matrix.hpp>

namespace nodewise::test {

/// Compressed rows in ordinary vectors.
template <class T, class Index = std::int32_t, class Offset = std::int64_t>
struct plain_matrix {
  std::size_t columns = 0;
  std::vector<Offset> starts{0};
  std::vector<Index> indices;
  std::vector<T> values;

  [[nodiscard]] std::size_t rows() const { return starts.size() - 1; }
};

/// Small whole numbers: their sums are exact in every order.
template <class T>
T small_number(std::mt19937& random) {
  return static_cast<T>(std::uniform_int_distribution(-8, 8)(random));
}

/// A matrix whose row lengths are 0 to 2 * `mean`, a few of them `columns`.
template <class T, class Index, class Offset>
plain_matrix<T, Index, Offset> random_matrix(std::size_t rows, std::size_t columns,
                                             std::size_t mean, unsigned seed) {
  std::mt19937 random(seed);
  plain_matrix<T, Index, Offset> made;
  made.columns = columns;
  for (std::size_t row = 0; row < rows; ++row) {
    const bool full = random() % 64 == 7;
    const bool empty = random() % 4 == 0;
    const std::size_t length = full ? columns : empty ? 0 : random() % (2 * mean + 1);
    for (std::size_t k = 0; k < length; ++k) {
      made.indices.push_back(static_cast<Index>(full ? k : random() % columns));
      made.values.push_back(small_number<T>(random));
    }
    made.starts.push_back(static_cast<Offset>(made.values.size()));
  }
  return made;
}

template <class T>
std::vector<T> random_vector(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> made(size);
  for (T& each : made) {
    each = small_number<T>(random);
  }
  return made;
}

/// y + factor A x
template <class T, class Index, class Offset>
std::vector<T> plain_product(const plain_matrix<T, Index, Offset>& a, const std::vector<T>& x,
                             std::vector<T> y = {}, T factor = 1) {
  y.resize(a.rows());
  for (std::size_t row = 0; row < a.rows(); ++row) {
    for (auto k = static_cast<std::size_t>(a.starts[row]);
         k < static_cast<std::size_t>(a.starts[row + 1]); ++k) {
      y[row] += factor * a.values[k] * x[static_cast<std::size_t>(a.indices[k])];
    }
  }
  return y;
}

/// A transposed, times x
template <class T, class Index, class Offset>
std::vector<T> plain_transposed(const plain_matrix<T, Index, Offset>& a, const std::vector<T>& x) {
  std::vector<T> y(a.columns);
  for (std::size_t row = 0; row < a.rows(); ++row) {
    for (auto k = static_cast<std::size_t>(a.starts[row]);
         k < static_cast<std::size_t>(a.starts[row + 1]); ++k) {
      y[static_cast<std::size_t>(a.indices[k])] += a.values[k] * x[row];
    }
  }
  return y;
}

/// Shapes that a cut by rows can get wrong: one row, one column, fewer rows than workers, wide,
/// high.
struct matrix_shape {
  std::size_t rows;
  std::size_t columns;
  std::size_t mean;
};
inline const std::vector<matrix_shape> shapes{{1, 1, 1},    {1, 300, 40},   {300, 1, 1},
                                              {3, 50, 9},   {500, 500, 12}, {2000, 100, 3},
                                              {70, 900, 60}};

template <class T, class Index, class Offset, class Teams>
sparse_matrix<T, Index, Offset> copy_of(Teams& teams, const plain_matrix<T, Index, Offset>& a) {
  return sparse_matrix<T, Index, Offset>::copy(teams, a.columns, a.starts, a.indices, a.values);
}

/// A matrix of 3000 rows and a vector, with values of very different sizes: another order of
/// additions gives other bits.
inline std::pair<plain_matrix<double>, std::vector<double>> matrix_whose_sums_depend_on_order() {
  std::mt19937 random(6);
  auto plain = random_matrix<double, std::int32_t, std::int64_t>(3000, 3000, 30, 2);
  std::vector<double> x(plain.columns);
  for (auto* const numbers : {&plain.values, &x}) {
    for (double& each : *numbers) {
      each = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 60));
    }
  }
  return {std::move(plain), std::move(x)};
}

} // namespace nodewise::test
