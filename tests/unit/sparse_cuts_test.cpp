// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How evenly the workers of every recorded machine share the matrices that the benchmarks use.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include <nodewise/sell_matrix.hpp>

#include "recorded_machines.hpp"
#include "unit/simulated_teams.hpp"
#include "unit/sparse_matrices.hpp"

namespace nodewise::test {
namespace {

struct named_matrix {
  const char* name;
  plain_matrix<double> matrix;
};

/// `column(row, k)` returns the column of entry k of a row.
template <class Length, class Column>
plain_matrix<double> matrix_of(std::size_t rows, Length length, Column column) {
  plain_matrix<double> made;
  made.columns = rows;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto entries = static_cast<std::size_t>(length(row));
    for (std::size_t k = 0; k < entries; ++k) {
      made.indices.push_back(static_cast<std::int32_t>(column(row, k)));
    }
    made.starts.push_back(static_cast<std::int64_t>(made.indices.size()));
  }
  made.values.resize(made.indices.size(), 1.0);
  return made;
}

/// Each point of a grid and its neighbours in each of `dimensions` directions.
plain_matrix<double> stencil(std::size_t edge, std::size_t dimensions) {
  std::size_t points = edge;
  for (std::size_t d = 1; d < dimensions; ++d) {
    points *= edge;
  }
  const auto neighbours = [=](std::size_t point) {
    std::vector<std::size_t> found{point};
    for (std::size_t d = 0, step = 1; d < dimensions; ++d, step *= edge) {
      const std::size_t at = point / step % edge;
      if (at > 0) {
        found.push_back(point - step);
      }
      if (at + 1 < edge) {
        found.push_back(point + step);
      }
    }
    return found;
  };
  return matrix_of(
      points, [&](std::size_t row) { return neighbours(row).size(); },
      [&](std::size_t row, std::size_t k) { return neighbours(row)[k]; });
}

const std::vector<named_matrix>& named_matrices() {
  constexpr std::size_t rows = 10'000;
  std::mt19937 random(11);
  const auto anywhere = [&](std::size_t, std::size_t) { return random() % rows; };
  const auto in_order = [](std::size_t, std::size_t k) { return k; };
  static const std::vector<named_matrix> all{
      {"2-D stencil", stencil(100, 2)},
      {"3-D stencil", stencil(22, 3)},
      {"banded", matrix_of(
                     rows, [](std::size_t) { return 24; },
                     [](std::size_t row, std::size_t k) { return std::min(row + k, rows - 1); })},
      {"random", matrix_of(
                     rows, [](std::size_t) { return 16; }, anywhere)},
      {"power law", matrix_of(
                        rows, [](std::size_t row) { return 1 + 4000 / (row + 1); }, anywhere)},
      {"a few full rows",
       matrix_of(
           rows, [](std::size_t row) { return row % 2503 == 7 ? rows : std::size_t{9}; },
           in_order)},
      {"empty rows",
       matrix_of(
           rows, [](std::size_t row) { return row / 1000 % 3 == 1 ? 0 : row % 12; }, in_order)},
  };
  return all;
}

/// The bytes of rows first..last: values, columns, row starts, and a load and a store of results.
std::size_t cost(const plain_matrix<double>& of, std::size_t first, std::size_t last) {
  return static_cast<std::size_t>(of.starts[last] - of.starts[first]) * (8 + 4) +
         (last - first) * (8 + 2 * 8);
}

class SparseCutsOn : public testing::TestWithParam<recorded_machine> {};

INSTANTIATE_TEST_SUITE_P(Machines, SparseCutsOn, testing::ValuesIn(recorded_machines()),
                         test_name<testing::TestParamInfo<recorded_machine>>);

/// Whole groups of `multiple` rows are cut; with 1, single rows.
void expect_even(const named_matrix& of, const row_partition& cut, std::size_t multiple) {
  const plain_matrix<double>& a = of.matrix;
  std::size_t longest = 0;
  for (std::size_t row = 0; row < a.rows(); row += multiple) {
    longest = std::max(longest, cost(a, row, std::min(row + multiple, a.rows())));
  }
  const double mean =
      static_cast<double>(cost(a, 0, a.rows())) / static_cast<double>(cut.workers());
  std::size_t next = 0;
  for (std::size_t k = 0; k < cut.workers(); ++k) {
    const index_range mine = cut.rows_of(k);
    ASSERT_EQ(mine.first, next) << of.name;
    next = mine.last;
    ASSERT_LE(static_cast<double>(cost(a, mine.first, mine.last)),
              1.02 * mean + static_cast<double>(longest))
        << of.name << ", worker " << k << " of " << cut.workers();
  }
  ASSERT_EQ(next, a.rows()) << of.name;
}

TEST_P(SparseCutsOn, NoWorkerHasMoreThanTheMeanAndTheLongestRow) {
  simulated_teams teams(GetParam().load());
  for (const named_matrix& each : named_matrices()) {
    const auto a = copy_of(teams, each.matrix);
    ASSERT_EQ(a.partition().workers(), teams.threads().workers().size());
    expect_even(each, a.partition(), 1);
    const auto sell = sell_matrix<double>::from(teams, a);
    expect_even(each, sell.partition(), sell.chunk_rows());
  }
}

} // namespace
} // namespace nodewise::test
