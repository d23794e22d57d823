// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/sell_matrix.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include <gtest/gtest.h>

#include <nodewise/sparse_multiply.hpp>

#include "unit/simulated_teams.hpp"
#include "unit/sparse_matrices.hpp"

namespace nodewise::test {
namespace {

template <class Types>
class SparseSell : public testing::Test {};

using types = testing::Types<std::tuple<double, std::int32_t>, std::tuple<float, std::int32_t>,
                             std::tuple<double, std::int64_t>, std::tuple<float, std::int16_t>>;
TYPED_TEST_SUITE(SparseSell, types);

TYPED_TEST(SparseSell, IsThePlainProduct) {
  using T = std::tuple_element_t<0, TypeParam>;
  using Index = std::tuple_element_t<1, TypeParam>;
  for (const char* machine : {"1x1", "4x2", "8x4"}) {
    auto teams = teams_of(machine);
    for (const matrix_shape& shape : shapes) {
      const auto plain =
          random_matrix<T, Index, std::int64_t>(shape.rows, shape.columns, shape.mean, 2);
      const auto x = random_vector<T>(shape.columns, 3);
      const auto before = random_vector<T>(shape.rows, 4);
      const auto rows = copy_of(teams, plain);
      for (const std::size_t chunk_rows : {0U, 1U, 3U, 8U, 24U, 64U, 256U}) {
        for (const std::size_t sorted_rows : {0U, 1U, 16U, 5000U}) {
          const auto a = sell_matrix<T, Index>::from(
              teams, rows, {.chunk_rows = chunk_rows, .sorted_rows = sorted_rows});
          EXPECT_EQ(a.entries(), plain.values.size());
          std::vector<T> y(shape.rows, std::numeric_limits<T>::quiet_NaN()); // must not be read
          multiply(teams, a, x, y);
          ASSERT_EQ(y, plain_product(plain, x)) << machine << ' ' << chunk_rows;
          y = before;
          multiply_add(teams, T{-3}, a, x, y);
          ASSERT_EQ(y, plain_product(plain, x, before, T{-3})) << machine << ' ' << chunk_rows;
        }
      }
    }
  }
}

/// Rows of 1 to 16 entries by turns, or as `length` says.
template <class Teams, class Length>
sparse_matrix<double> rows_of_length(Teams& teams, std::size_t rows, Length length) {
  return sparse_matrix<double>::from_rows(teams, rows, 16, length,
                                          [](std::size_t, auto columns, auto values) {
                                            std::iota(columns.begin(), columns.end(), 0);
                                            std::ranges::fill(values, 1.0);
                                          });
}

TEST(SparseSellFormat, SortingRowsSavesPadding) {
  auto teams = teams_of("2x1");
  const auto rows = rows_of_length(teams, 1024, [](std::size_t row) { return 1 + row % 16; });
  const auto occupancy = [&](std::size_t chunk_rows, std::size_t sorted_rows) {
    return sell_matrix<double>::from(teams, rows, {chunk_rows, sorted_rows}).occupancy();
  };
  EXPECT_EQ(occupancy(1, 1), 1.0);
  EXPECT_DOUBLE_EQ(occupancy(16, 1), 8.5 / 16);
  EXPECT_GT(occupancy(16, 256), 0.99);
  const auto defaults = sell_matrix<double>::from(teams, rows);
  EXPECT_EQ(defaults.chunk_rows(), 16U);
  EXPECT_GT(defaults.occupancy(), 0.99);
}

TEST(SparseSellFormat, ItsWorkersBeginAtWholeChunks) {
  auto teams = teams_of("4x2");
  const auto rows = rows_of_length(teams, 1003, [](std::size_t row) { return row % 5; });
  const auto a = sell_matrix<double>::from(teams, rows, {.chunk_rows = 24, .sorted_rows = 48});
  for (std::size_t k = 0; k < 8; ++k) {
    const index_range mine = a.partition().rows_of(k);
    EXPECT_TRUE(mine.first % 24 == 0 || mine.size() == 0);
    EXPECT_NEAR(static_cast<double>(mine.size()), 1003.0 / 8, 24);
  }
  EXPECT_EQ(std::ranges::count(a.strip(), '\n'), 3);
  const residency found = a.residency();
  EXPECT_EQ(found.resident, found.pages);
}

TEST(SparseSellFormat, ARowHasTheSameBitsWithAnyNumberOfWorkers) {
  const auto [plain, x] = matrix_whose_sums_depend_on_order();
  std::vector<double> expected;
  for (const char* machine : {"1x1", "4x2", "8x4"}) {
    auto teams = teams_of(machine);
    const auto a = sell_matrix<double>::from(teams, copy_of(teams, plain));
    std::vector<double> y(plain.rows());
    multiply(teams, a, x, y);
    if (expected.empty()) {
      expected = y;
    }
    EXPECT_EQ(y, expected) << machine;
  }
}

TEST(SparseSellFormat, OtherRowsDoNotReadWhatIsNotFinite) {
  auto teams = teams_of("1x2");
  const std::vector<triplet<double>> entries{{0, 0, 1.0}, {2, 1, 1.0}, {2, 2, 1.0}, {2, 3, 1.0}};
  const auto rows = sparse_matrix<double>::from_triplets(teams, 8, 4, entries);
  const auto a = sell_matrix<double>::from(teams, rows);
  const std::vector<double> x{2.0, std::numeric_limits<double>::infinity(), 1.0,
                              std::numeric_limits<double>::quiet_NaN()};
  std::vector<double> y(8);
  multiply(teams, a, x, y);
  EXPECT_TRUE(std::isnan(y[2]));
  y[2] = 0;
  EXPECT_EQ(y, (std::vector<double>{2, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(SparseSellFormat, RefusesWhatItCannotHold) {
  auto teams = teams_of("2x2");
  auto others = teams_of("4x2");
  const auto rows = rows_of_length(teams, 1000, [](std::size_t) { return 1; });
  using sell = sell_matrix<double>;
  EXPECT_THROW((void)sell::from(teams, rows, {.chunk_rows = 257}), error);
  EXPECT_THROW((void)sell::from(others, rows), error);
  const auto narrow = sparse_matrix<double, std::int8_t>::from_rows(
      teams, 1000, 4, [](std::size_t) { return 0; }, [](std::size_t, auto, auto) {});
  EXPECT_THROW((void)(sell_matrix<double, std::int8_t>::from(teams, narrow)), error);
}

} // namespace
} // namespace nodewise::test
