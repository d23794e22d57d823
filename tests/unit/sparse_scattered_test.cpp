// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/sparse_scattered.hpp>

#include <limits>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include <nodewise/sparse_multiply.hpp>

#include "unit/simulated_teams.hpp"
#include "unit/sparse_matrices.hpp"

namespace nodewise::test {
namespace {

const auto machines = {"1x1", "2x2", "4x2", "8x4"};

/// The entries of a square matrix that are not left of the diagonal, and its whole.
struct halves {
  std::vector<triplet<double>> upper;
  std::vector<triplet<double>> whole;
};
halves random_symmetric(std::size_t rows, std::size_t entries, std::size_t band) {
  std::mt19937 random(8);
  halves made;
  for (std::size_t k = 0; k < entries; ++k) {
    const std::size_t row = random() % rows;
    const std::size_t column = std::min(row + random() % band, rows - 1);
    const auto i = static_cast<std::int32_t>(row);
    const auto j = static_cast<std::int32_t>(column);
    made.upper.push_back({i, j, small_number<double>(random)});
    made.whole.push_back(made.upper.back());
    if (i != j) {
      made.whole.push_back({j, i, made.upper.back().value});
    }
  }
  return made;
}

TEST(SparseScattered, TheTransposedProductIsThePlainOne) {
  for (const char* machine : machines) {
    auto teams = teams_of(machine);
    for (const matrix_shape& shape : shapes) {
      const auto plain = random_matrix<double, std::int32_t, std::int32_t>(
          shape.rows, shape.columns, shape.mean, 2);
      const auto x = random_vector<double>(shape.rows, 3);
      const auto a = copy_of(teams, plain);
      transposed_product transposed(teams, a);
      for (int round = 0; round < 2; ++round) { // buffers of the round before are cleared
        std::vector<double> y(shape.columns, std::numeric_limits<double>::quiet_NaN());
        multiply(teams, transposed, x, y);
        ASSERT_EQ(y, plain_transposed(plain, x)) << machine << ' ' << shape.rows;
      }
    }
  }
}

TEST(SparseScattered, TheUpperHalfCountsTwiceButTheDiagonalOnce) {
  for (const char* machine : machines) {
    auto teams = teams_of(machine);
    for (const auto& [rows, entries, band] :
         {std::tuple(1U, 1U, 1U), std::tuple(3U, 6U, 3U), std::tuple(500U, 4000U, 500U),
          std::tuple(2000U, 9000U, 20U), std::tuple(300U, 0U, 1U)}) {
      const halves made = random_symmetric(rows, entries, band);
      const auto upper = sparse_matrix<double>::from_triplets(teams, rows, rows, made.upper);
      const auto whole = sparse_matrix<double>::from_triplets(teams, rows, rows, made.whole);
      const auto x = random_vector<double>(rows, 3);
      std::vector<double> expected(rows);
      multiply(teams, whole, x, expected);
      symmetric_product symmetric(teams, upper);
      std::vector<double> y(rows, std::numeric_limits<double>::quiet_NaN());
      multiply(teams, symmetric, x, y);
      ASSERT_EQ(y, expected) << machine << ' ' << rows;
    }
  }
}

TEST(SparseScattered, TheSameTeamsGiveTheSameBits) {
  auto teams = teams_of("4x2");
  const auto [plain, x] = matrix_whose_sums_depend_on_order();
  std::vector<double> expected;
  for (int round = 0; round < 3; ++round) {
    const auto a = copy_of(teams, plain);
    transposed_product transposed(teams, a);
    std::vector<double> y(plain.columns);
    multiply(teams, transposed, x, y);
    if (expected.empty()) {
      expected = y;
    }
    EXPECT_EQ(y, expected);
  }
}

template <class F>
std::string refused(F&& f) {
  try {
    f();
  } catch (const error& failed) {
    return failed.what();
  }
  return "nothing was refused";
}

TEST(SparseScattered, ErrorsNameWhatDoesNotFit) {
  auto teams = teams_of("2x2");
  auto others = teams_of("4x2");
  const std::vector<triplet<double>> entries{{0, 0, 1.0}, {2, 1, 1.0}};
  const auto square = sparse_matrix<double>::from_triplets(teams, 3, 3, entries);
  const auto wide = sparse_matrix<double>::from_triplets(teams, 3, 4, entries);
  EXPECT_NE(refused([&] { symmetric_product(teams, square); }).find("row 2, column 1"),
            std::string::npos);
  EXPECT_NE(refused([&] { symmetric_product(teams, wide); }).find("3 rows and 4 columns"),
            std::string::npos);
  EXPECT_NE(refused([&] { transposed_product(others, wide); }).find("cut for 4 workers"),
            std::string::npos);
  transposed_product transposed(teams, wide);
  std::vector<double> x(3);
  std::vector<double> y(4);
  EXPECT_NE(refused([&] { multiply(others, transposed, x, y); }).find("cut for 4 workers"),
            std::string::npos);
  EXPECT_NE(refused([&] { multiply(teams, transposed, y, x); }).find("4 elements"),
            std::string::npos);
}

} // namespace
} // namespace nodewise::test
