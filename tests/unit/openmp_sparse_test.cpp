// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices with threads that run at the same time; simulated machines are in sparse_*_test.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include <nodewise/openmp.hpp>
#include <nodewise/sparse.hpp>

#include "unit/sparse_matrices.hpp"

namespace nodewise::test {
namespace {

TEST(OpenMPSparse, ThreadsBuildAndMultiplyTogether) {
  openmp_teams teams(topology::from_sysfs(), {.threads = 4});
  for (const matrix_shape& shape : shapes) {
    const auto plain =
        random_matrix<double, std::int32_t, std::int64_t>(shape.rows, shape.columns, shape.mean, 1);
    const auto x = random_vector<double>(shape.columns, 2);
    const auto a = copy_of(teams, plain);
    auto y = a.output_vector();
    multiply(teams, a, x, y);
    ASSERT_TRUE(std::ranges::equal(y, plain_product(plain, x)));
  }
}

TEST(OpenMPSparse, ThreadsConvertAndTransposeTogether) {
  openmp_teams teams(topology::from_sysfs(), {.threads = 4});
  const auto plain = random_matrix<double, std::int32_t, std::int64_t>(2000, 2000, 12, 1);
  const auto x = random_vector<double>(2000, 2);
  const auto rows = copy_of(teams, plain);
  const auto a = sell_matrix<double>::from(teams, rows);
  std::vector<double> y(2000);
  multiply(teams, a, x, y);
  EXPECT_EQ(y, plain_product(plain, x));
  // (A x) y = x (A' y)
  transposed_product transposed(teams, rows);
  std::vector<double> z(2000);
  multiply(teams, transposed, x, z);
  const std::vector<double> ones(2000, 1.0);
  std::vector<double> of_ones(2000);
  multiply(teams, rows, ones, of_ones);
  EXPECT_EQ(std::accumulate(z.begin(), z.end(), 0.0),
            std::inner_product(of_ones.begin(), of_ones.end(), x.begin(), 0.0));
}

TEST(OpenMPSparse, ThreadsSortTriplets) {
  openmp_teams teams(topology::from_sysfs(), {.threads = 4});
  const auto plain = random_matrix<double, std::int32_t, std::int64_t>(700, 600, 20, 1);
  std::vector<triplet<double>> triplets;
  for (std::size_t row = 0; row < plain.rows(); ++row) {
    for (auto k = static_cast<std::size_t>(plain.starts[row]);
         k < static_cast<std::size_t>(plain.starts[row + 1]); ++k) {
      triplets.push_back({static_cast<std::int32_t>(row), plain.indices[k], plain.values[k]});
    }
  }
  std::ranges::shuffle(triplets, std::mt19937(4));
  const auto x = random_vector<double>(600, 2);
  const auto a = sparse_matrix<double>::from_triplets(teams, 700, 600, triplets);
  auto y = a.output_vector();
  multiply(teams, a, x, y);
  EXPECT_TRUE(std::ranges::equal(y, plain_product(plain, x)));
}

TEST(OpenMPSparse, TheSameTeamsGiveTheSameBits) {
  openmp_teams teams(topology::from_sysfs(), {.threads = 4});
  const auto [plain, x] = matrix_whose_sums_depend_on_order();
  auto upper_half = plain;
  for (std::size_t row = 0; row < plain.rows(); ++row) {
    for (auto k = static_cast<std::size_t>(plain.starts[row]);
         k < static_cast<std::size_t>(plain.starts[row + 1]); ++k) {
      upper_half.indices[k] = std::max(plain.indices[k], static_cast<std::int32_t>(row));
    }
  }
  std::vector<std::vector<double>> expected;
  for (int run = 0; run < 5; ++run) {
    const auto a = copy_of(teams, plain);
    const auto upper = copy_of(teams, upper_half);
    std::vector<std::vector<double>> results(5, std::vector<double>(plain.rows()));
    multiply(teams, a, x, results[0]);
    multiply_many(teams, a, 1, x, results[1]);
    multiply(teams, sell_matrix<double>::from(teams, a), x, results[2]);
    transposed_product transposed(teams, a);
    multiply(teams, transposed, x, results[3]);
    symmetric_product symmetric(teams, upper);
    multiply(teams, symmetric, x, results[4]);
    if (run == 0) {
      expected = results;
    }
    ASSERT_EQ(results, expected) << "run " << run;
  }
}

TEST(OpenMPSparse, ThreadsUpdateAndReadEachPlacementOfTheInput) {
  openmp_teams teams(topology::from_sysfs(), {.threads = 4});
  const auto plain = random_matrix<double, std::int32_t, std::int64_t>(2000, 2000, 12, 1);
  const auto x = random_vector<double>(2000, 2);
  const auto a = copy_of(teams, plain);
  EXPECT_FALSE(choose_input(teams, a).reason.empty());
  for (const input_placement how :
       {input_placement::blocked, input_placement::interleaved, input_placement::copied}) {
    placed_input<double> placed(teams, a, how);
    auto y = a.output_vector();
    for (const double factor : {1.0, 2.0}) {
      placed.update(teams, [&](std::size_t first, std::span<double> part) {
        for (std::size_t k = 0; k < part.size(); ++k) {
          part[k] = factor * x[first + k];
        }
      });
      multiply(teams, a, placed, y);
      EXPECT_TRUE(std::ranges::equal(y, plain_product(plain, x, {}, factor))) << to_string(how);
    }
  }
}

TEST(OpenMPSparse, ThreadsBuildAndMultiplyTriangles) {
  openmp_teams teams(topology::from_sysfs(), {.threads = 4});
  const std::size_t rows = 600;
  for (const triangle half : {triangle::lower, triangle::upper}) {
    const auto a = triangular_matrix<double>::from_rows(
        teams, half, rows,
        [](std::size_t, std::span<double> values) { std::ranges::fill(values, 1.0); });
    const std::vector<double> ones(rows, 1.0);
    auto y = a.output_vector();
    multiply(teams, a, ones, y);
    for (std::size_t row = 0; row < rows; ++row) {
      ASSERT_EQ(y[row], static_cast<double>(half == triangle::lower ? row + 1 : rows - row));
    }
  }
}

TEST(OpenMPSparse, AnErrorOfOneThreadComesOut) {
  openmp_teams teams(topology::from_sysfs(), {.threads = 4});
  auto plain = random_matrix<double, std::int32_t, std::int64_t>(700, 600, 20, 1);
  plain.indices[plain.indices.size() / 2] = 600;
  EXPECT_THROW((void)copy_of(teams, plain), error);
}

} // namespace
} // namespace nodewise::test
