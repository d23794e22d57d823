// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/triangular_matrix.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include <nodewise/sparse_input.hpp>

#include "recorded_machines.hpp"
#include "unit/simulated_teams.hpp"
#include "unit/sparse_matrices.hpp"

namespace nodewise::test {
namespace {

constexpr std::array both_halves = {triangle::lower, triangle::upper};
constexpr std::array sizes = {1U, 2U, 7U, 100U, 777U};

bool is_stored(triangle half, std::size_t row, std::size_t column) {
  return half == triangle::lower ? column <= row : column >= row;
}

/// The whole square, with zeros in the other half.
template <class T>
std::vector<T> square_of(triangle half, std::size_t rows) {
  std::mt19937 random(3);
  std::vector<T> made(rows * rows);
  for (std::size_t at = 0; at < made.size(); ++at) {
    made[at] = is_stored(half, at / rows, at % rows) ? small_number<T>(random) : T{0};
  }
  return made;
}

template <class T, class Teams>
triangular_matrix<T> triangle_of(Teams& teams, triangle half, const std::vector<T>& square,
                                 std::size_t rows) {
  return triangular_matrix<T>::from_rows(
      teams, half, rows, [&](std::size_t row, std::span<T> values) {
        const std::size_t first = half == triangle::lower ? 0 : row;
        std::copy_n(square.begin() + static_cast<std::ptrdiff_t>(row * rows + first), values.size(),
                    values.begin());
      });
}

template <class T>
std::vector<T> square_product(const std::vector<T>& square, const std::vector<T>& x) {
  std::vector<T> y(x.size());
  for (std::size_t at = 0; at < square.size(); ++at) {
    y[at / x.size()] += square[at] * x[at % x.size()];
  }
  return y;
}

template <class T>
class SparseTriangular : public testing::Test {};
using value_types = testing::Types<double, float>;
TYPED_TEST_SUITE(SparseTriangular, value_types);

TYPED_TEST(SparseTriangular, IsThePlainProductWithTheSquare) {
  using T = TypeParam;
  for (const char* machine : {"1x1", "2x2", "4x2", "8x4"}) {
    auto teams = teams_of(machine);
    for (const triangle half : both_halves) {
      for (const std::size_t rows : sizes) {
        const auto square = square_of<T>(half, rows);
        const auto x = random_vector<T>(rows, 4);
        const auto a = triangle_of(teams, half, square, rows);
        std::vector<T> y(rows, std::numeric_limits<T>::quiet_NaN()); // must not be read
        multiply(teams, a, x, y);
        ASSERT_EQ(y, square_product(square, x)) << machine << ' ' << rows;
        multiply_add(teams, T{2}, a, x, y);
        auto thrice = square_product(square, x);
        std::ranges::for_each(thrice, [](T& each) { each *= 3; });
        ASSERT_EQ(y, thrice) << machine << ' ' << rows;
      }
    }
  }
}

TYPED_TEST(SparseTriangular, HoldsTheRowsThatItWasBuiltFrom) {
  using T = TypeParam;
  auto teams = teams_of("4x2");
  for (const triangle half : both_halves) {
    for (const std::size_t rows : sizes) {
      const auto square = square_of<T>(half, rows);
      const auto a = triangle_of(teams, half, square, rows);
      ASSERT_EQ(a.rows(), rows);
      ASSERT_EQ(a.values().size(), rows * (rows + 1) / 2);
      for (std::size_t at = 0; at < square.size(); ++at) {
        const std::size_t row = at / rows;
        const std::size_t column = at % rows;
        if (is_stored(half, row, column)) {
          ASSERT_EQ(a.row(row)[column - a.first_column(row)], square[at]);
        }
      }
    }
  }
}

class SparseTriangularOn : public testing::TestWithParam<recorded_machine> {};

INSTANTIATE_TEST_SUITE_P(Machines, SparseTriangularOn, testing::ValuesIn(recorded_machines()),
                         test_name<testing::TestParamInfo<recorded_machine>>);

TEST_P(SparseTriangularOn, NoWorkerHasMoreThanTheMeanAndTheLongestRow) {
  simulated_teams teams(GetParam().load());
  for (const triangle half : both_halves) {
    for (const std::size_t rows : {1U, 100U, 1500U}) {
      std::vector<int> times(rows);
      const auto a = triangular_matrix<double>::from_rows(
          teams, half, rows, [&](std::size_t row, std::span<double> values) {
            ++times[row];
            ASSERT_EQ(values.size(), half == triangle::lower ? row + 1 : rows - row);
          });
      EXPECT_TRUE(std::ranges::all_of(times, [](int each) { return each == 1; }));
      const auto workers = static_cast<double>(a.partition().workers());
      const double mean = static_cast<double>(a.values().size() * 8 + rows * 16) / workers;
      for (std::size_t k = 0; k < a.partition().workers(); ++k) {
        const index_range mine = a.partition().rows_of(k);
        std::size_t bytes = mine.size() * 16;
        for (std::size_t row = mine.first; row < mine.last; ++row) {
          bytes += a.row(row).size_bytes();
        }
        ASSERT_LE(static_cast<double>(bytes), 1.02 * mean + static_cast<double>(rows * 8 + 16));
      }
    }
  }
}

TEST(SparseTriangularPages, AreOnTheOwnersOfTheRows) {
  const topology here = topology::from_sysfs();
  simulated_teams teams(here, {.threads = 4});
  for (const triangle half : both_halves) {
    const auto a = triangular_matrix<double>::from_rows(
        teams, half, 1500,
        [](std::size_t, std::span<double> values) { std::ranges::fill(values, 1.0); });
    const residency found = a.residency();
    EXPECT_GE(found.resident, a.values().size_bytes() / 65536);
    EXPECT_EQ(found.resident, found.pages);
    if (found.exactness == resolution::page) {
      EXPECT_EQ(found.on_owner, found.resident);
    }
    EXPECT_FALSE(a.strip(10).empty());
  }
}

TEST(SparseTriangularBits, AreThoseOfAnyNumberOfWorkers) {
  std::mt19937 random(6);
  const std::size_t rows = 300;
  std::vector<double> square = square_of<double>(triangle::lower, rows);
  std::vector<double> x(rows);
  for (auto* const numbers : {&square, &x}) {
    for (double& each : *numbers) {
      each = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 60));
    }
  }
  std::vector<double> expected;
  for (const char* machine : {"1x1", "4x2", "8x4", "4x2"}) {
    auto teams = teams_of(machine);
    const auto a = triangle_of(teams, triangle::lower, square, rows);
    std::vector<double> y(rows);
    multiply(teams, a, x, y);
    if (expected.empty()) {
      expected = y;
    }
    EXPECT_EQ(y, expected) << machine;
  }
}

TEST(SparseTriangularInput, MayBeCopiedToEachNode) {
  auto teams = teams_of("4x2");
  const std::size_t rows = 500;
  const auto square = square_of<double>(triangle::upper, rows);
  const auto x = random_vector<double>(rows, 4);
  const auto a = triangle_of(teams, triangle::upper, square, rows);
  placed_input<double> placed(teams, a, input_placement::copied);
  placed.update(teams, [&](std::size_t first, std::span<double> part) {
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(first), part.size(), part.begin());
  });
  auto y = a.output_vector();
  multiply(teams, a, placed, y);
  EXPECT_TRUE(std::ranges::equal(y, square_product(square, x)));
  EXPECT_EQ(a.input_vector().size(), rows);
}

TEST(SparseTriangularErrors, NameSizesOutOfRangeAndOtherTeams) {
  auto teams = teams_of("2x2");
  const auto nothing = [](std::size_t, std::span<double>) {};
  const auto of_rows = [&](std::size_t rows) {
    return triangular_matrix<double>::from_rows(teams, triangle::lower, rows, nothing);
  };
  for (const std::size_t rows : {std::size_t{0}, std::size_t{1} << 32, SIZE_MAX - 1, SIZE_MAX}) {
    try {
      (void)of_rows(rows);
      FAIL() << rows;
    } catch (const error& failed) {
      EXPECT_EQ(failed.kind(), error_kind::usage);
      EXPECT_NE(std::string(failed.what()).find(std::to_string(rows) + " rows"), std::string::npos);
    }
  }
  const auto a = of_rows(10);
  auto others = teams_of("4x2");
  std::vector<double> x(10);
  std::vector<double> y(10);
  EXPECT_THROW(multiply(others, a, x, y), error);
  EXPECT_THROW(multiply(teams, a, std::span(x).first(9), y), error);
}

} // namespace
} // namespace nodewise::test
