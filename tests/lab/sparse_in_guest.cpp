// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products with a banded matrix on a machine with several nodes: prints the share of the matrix's
// pages that are on their owner, before the products, and whether the results are right.
//
// usage: sparse_in_guest copied|adopted|sell
#include <cstdio>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include <nodewise/marker.h>
#include <nodewise/openmp.hpp>
#include <nodewise/sparse.hpp>

namespace {

using matrix = nodewise::sparse_matrix<double>;

constexpr std::size_t n = 131072;
constexpr std::size_t band = 12;

/// Row r has ones in columns r - 6 to r + 5, as far as there are any. The calling thread builds it.
struct arrays {
  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;

  arrays() {
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t k = 0; k < band; ++k) {
        const std::size_t column = row + k - band / 2;
        if (column < n) { // below 0 it wraps
          columns.push_back(static_cast<std::int32_t>(column));
        }
      }
      values.resize(columns.size(), 1.0);
      starts.push_back(static_cast<std::int64_t>(columns.size()));
    }
  }
};

template <class Matrix>
void multiply(nodewise::openmp_teams& teams, const Matrix& a, std::size_t entries) {
  auto x = a.input_vector();
  auto y = a.output_vector();
  teams.fill(x, 1.0);
  teams.fill(y, 0.0);
  std::printf("matrix on-its-owners %.4f\n", a.residency().locality().value_or(-1));
  NODEWISE_MARKER_USE();
  for (int product = 0; product < 4; ++product) {
    nodewise::multiply(teams, a, x, y);
  }
  const double sum = teams.reduce_owned(
      y, 0.0, [](std::span<double> part) { return std::accumulate(part.begin(), part.end(), 0.0); },
      std::plus<>());
  std::printf("result right %d\n", sum == static_cast<double>(entries) ? 1 : 0);
}

} // namespace

int main(int count, char** words) {
  const std::string_view form = count > 1 ? words[1] : "";
  nodewise::openmp_teams teams;
  const arrays plain;
  const std::size_t entries = plain.values.size();
  if (form == "adopted") {
    multiply(teams, matrix::adopt(teams, n, plain.starts, plain.columns, plain.values), entries);
  } else if (form == "copied") {
    multiply(teams, matrix::copy(teams, n, plain.starts, plain.columns, plain.values), entries);
  } else if (form == "sell") {
    const auto rows = matrix::copy(teams, n, plain.starts, plain.columns, plain.values);
    multiply(teams, nodewise::sell_matrix<double>::from(teams, rows), entries);
  } else {
    std::fprintf(stderr, "usage: sparse_in_guest copied|adopted|sell\n");
    return 2;
  }
}
