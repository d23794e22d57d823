// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products with a matrix of 524288 rows on a machine with several nodes: the usual form, by OpenMP
// alone, and those of the library. Prints where the vectors are, the predicted share of the input
// vector's elements that are on the node of their row, and whether the results are right.
//
// usage: sparse_in_guest usual|copied|adopted|sell banded|random
#include <cinttypes>
#include <cstdint>
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

constexpr std::size_t n = 524288; // a vector, and the row starts, have 4 MiB
constexpr std::size_t row_entries = 5;
constexpr int products = 2;

using column_of = std::size_t (*)(std::size_t row, std::size_t k);

/// A band around the diagonal, which ends at the edges of the matrix.
std::size_t banded(std::size_t row, std::size_t k) {
  const std::size_t first = row < 2 ? 0 : row - 2;
  return (first < n - row_entries ? first : n - row_entries) + k;
}

/// Anywhere: the finalizer of the generator splitmix64 of a number for each entry.
std::size_t random_column(std::size_t row, std::size_t k) {
  std::uint64_t bits = row * row_entries + k + 1;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return (bits ^ (bits >> 31U)) % n;
}

/// Ones in these columns. The calling thread builds it.
struct arrays {
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> columns;
  std::vector<double> values;

  explicit arrays(column_of column)
      : starts(n + 1), columns(n * row_entries), values(n * row_entries, 1.0) {
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t k = 0; k < row_entries; ++k) {
        columns[row * row_entries + k] = static_cast<std::int32_t>(column(row, k));
      }
      starts[row + 1] = static_cast<std::int64_t>((row + 1) * row_entries);
    }
  }
};

void report(std::span<const double> x, std::span<const double> y) {
  std::printf("x at %" PRIuPTR "\ny at %" PRIuPTR "\n", reinterpret_cast<std::uintptr_t>(x.data()),
              reinterpret_cast<std::uintptr_t>(y.data()));
}

/// Small whole numbers, so that sums are exact: an element that is read in place of another one
/// shows.
double element_of_x(std::size_t column) {
  return static_cast<double>(column % 7);
}

/// The sum over y.
double sum_of_product(const arrays& a) {
  return std::accumulate(a.columns.begin(), a.columns.end(), 0.0,
                         [](double before, std::int32_t column) {
                           return before + element_of_x(static_cast<std::size_t>(column));
                         });
}

void check(double sum, double right) {
  std::printf("right %d\n", sum == right ? 1 : 0);
}

void multiply_as_usual(const arrays& a) {
  std::vector<double> x(n);
  for (std::size_t column = 0; column < n; ++column) {
    x[column] = element_of_x(column);
  }
  std::vector<double> y(n);
  const double right = sum_of_product(a); // before its reads would count
  report(x, y);
  NODEWISE_MARKER_USE();
  for (int product = 0; product < products; ++product) {
#pragma omp parallel for schedule(static)
    for (std::size_t row = 0; row < n; ++row) {
      double sum = 0;
      for (auto k = static_cast<std::size_t>(a.starts[row]);
           k < static_cast<std::size_t>(a.starts[row + 1]); ++k) {
        sum += a.values[k] * x[static_cast<std::size_t>(a.columns[k])];
      }
      y[row] = sum;
    }
  }
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::size_t row = 0; row < n; ++row) {
    sum += y[row];
  }
  check(sum, right);
}

template <class Matrix>
void multiply(nodewise::openmp_teams& teams, const Matrix& a, double right) {
  auto x = a.input_vector();
  auto y = a.output_vector();
  teams.for_each_owned(x, [](std::size_t first, std::span<double> part) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      part[i] = element_of_x(first + i);
    }
  });
  teams.fill(y, 0.0);
  report({x.data(), x.size()}, {y.data(), y.size()});
  std::printf("matrix on-its-owners %.4f\n", a.residency().locality().value_or(-1));
  NODEWISE_MARKER_USE();
  for (int product = 0; product < products; ++product) {
    nodewise::multiply(teams, a, x, y);
  }
  const double sum = teams.reduce_owned(
      y, 0.0, [](std::span<double> part) { return std::accumulate(part.begin(), part.end(), 0.0); },
      std::plus<>());
  check(sum, right);
}

} // namespace

int main(int count, char** words) {
  const std::string_view form = count == 3 ? words[1] : "";
  const std::string_view columns = count == 3 ? words[2] : "";
  const bool known = form == "usual" || form == "copied" || form == "adopted" || form == "sell";
  if (!known || (columns != "banded" && columns != "random")) {
    std::fprintf(stderr, "usage: sparse_in_guest usual|copied|adopted|sell banded|random\n");
    return 2;
  }
  const arrays plain(columns == "banded" ? banded : random_column);
  if (form == "usual") {
    multiply_as_usual(plain);
    return 0;
  }
  nodewise::openmp_teams teams;
  const auto rows = form == "adopted"
                        ? matrix::adopt(teams, n, plain.starts, plain.columns, plain.values)
                        : matrix::copy(teams, n, plain.starts, plain.columns, plain.values);
  std::printf("input locality %.4f\n", nodewise::input_locality(teams, rows));
  if (form == "sell") {
    multiply(teams, nodewise::sell_matrix<double>::from(teams, rows), sum_of_product(plain));
  } else {
    multiply(teams, rows, sum_of_product(plain));
  }
}
