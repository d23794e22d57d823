// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products of rows, by each method and with each instruction set that this processor has.
#include <nodewise/detail/sparse/rows.hpp>

#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "unit/sparse_matrices.hpp"

namespace nodewise::test {
namespace {

using detail::read_distance;
using detail::row_method;

constexpr std::array methods{
    row_method{read_distance::near, false},    row_method{read_distance::streamed, false},
    row_method{read_distance::far, false},     row_method{read_distance::near, true},
    row_method{read_distance::streamed, true}, row_method{read_distance::far, true}};

template <class T, class Offset>
std::vector<T> product_by(const plain_matrix<T, std::int32_t, Offset>& a, const std::vector<T>& x,
                          row_method how, const std::vector<index_range>& parts,
                          std::vector<T> y = {}, detail::row_update<T> update = {}) {
  const detail::sparse_rows<T, std::int32_t, Offset> rows{a.starts.data(), a.indices.data(),
                                                          a.values.data(), a.values.size()};
  y.resize(a.rows(), std::numeric_limits<T>::quiet_NaN()); // must not be read
  for (const index_range part : parts) {
    detail::row_products(rows, part, x.data(), y.data(), update, how);
  }
  return y;
}

/// Rows of these numbers of entries, at any columns.
template <class T, class Offset>
plain_matrix<T, std::int32_t, Offset> rows_of(const std::vector<std::size_t>& lengths,
                                              std::size_t columns) {
  std::mt19937 random(5);
  plain_matrix<T, std::int32_t, Offset> made;
  made.columns = columns;
  for (const std::size_t length : lengths) {
    for (std::size_t k = 0; k < length; ++k) {
      made.indices.push_back(static_cast<std::int32_t>(random() % columns));
    }
    made.starts.push_back(static_cast<Offset>(made.indices.size()));
  }
  made.values = random_vector<T>(made.indices.size(), 7);
  return made;
}

/// All lengths up to 40, and longer ones; empty rows at both ends and between.
std::vector<std::size_t> many_lengths() {
  std::vector<std::size_t> made{0, 0};
  for (std::size_t length = 1; length <= 40; ++length) {
    made.insert(made.end(), {length, length, 0});
  }
  made.insert(made.end(), {300, 1025, 3, 0, 9, 1, 0, 0});
  return made;
}

class SparseRows : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }

  template <class T, class Offset>
  void expect_plain_products() {
    const auto a = rows_of<T, Offset>(many_lengths(), 500);
    const auto x = random_vector<T>(a.columns, 3);
    const auto before = random_vector<T>(a.rows(), 4);
    for (const row_method how : methods) {
      EXPECT_EQ(product_by(a, x, how, {{0, a.rows()}}), plain_product(a, x));
      EXPECT_EQ(product_by<T>(a, x, how, {{0, a.rows()}}, before, {.factor = -3, .add = true}),
                plain_product(a, x, before, T{-3}));
    }
  }
};

// One test for each; of those that this processor has, some may have no code of their own.
INSTANTIATE_TEST_SUITE_P(Targets, SparseRows,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) {
                           return std::string(hwy::TargetName(target.param));
                         });

TEST_P(SparseRows, GiveThePlainProduct) {
  expect_plain_products<double, std::int32_t>();
  expect_plain_products<double, std::int64_t>();
  expect_plain_products<float, std::int32_t>();
  expect_plain_products<float, std::int64_t>();
}

TEST_P(SparseRows, HaveTheSameBitsAtEachDistanceAndInAnyParts) {
  auto a = rows_of<double, std::int64_t>(many_lengths(), 500);
  std::vector<double> x(a.columns);
  std::mt19937 random(6);
  for (auto* const numbers : {&a.values, &x}) {
    for (double& each : *numbers) { // another order of additions would give other bits
      each = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 60));
    }
  }
  for (const bool uneven : {false, true}) {
    const auto expected = product_by(a, x, {read_distance::near, uneven}, {{0, a.rows()}});
    for (const auto distance : {read_distance::near, read_distance::streamed, read_distance::far}) {
      EXPECT_EQ(product_by(a, x, {distance, uneven}, {{0, 5}, {5, 5}, {5, 64}, {64, a.rows()}}),
                expected);
    }
  }
}

TEST_P(SparseRows, DoNotUseTheElementsOfOtherRows) {
  auto a = rows_of<double, std::int32_t>(std::vector<std::size_t>(50, 3), 40);
  std::vector<double> x(a.columns, 2);
  x[39] = std::numeric_limits<double>::infinity();
  for (auto& column : a.indices) {
    column %= 39;
  }
  for (std::size_t k = 0; k < 3; ++k) {
    a.indices[3 * 20 + k] = 39; // of row 20 only
    a.values[3 * 20 + k] = 1;
  }
  for (const row_method how : methods) {
    const auto y = product_by(a, x, how, {{0, a.rows()}});
    for (std::size_t row = 0; row < y.size(); ++row) {
      EXPECT_EQ(std::isfinite(y[row]), row != 20) << row;
    }
  }
}

using n = std::size_t;

/// The distance of rows of 8 entries, at columns that are chosen by row, place in the row and a
/// random number.
template <class Choose>
read_distance distance_of(const Choose& choose, std::size_t rows = 100'000) {
  std::mt19937 random(5);
  std::vector<std::int32_t> columns;
  for (std::size_t k = 0; k < 8 * rows; ++k) {
    columns.push_back(static_cast<std::int32_t>(choose(k / 8, k % 8, random())));
  }
  return detail::read_distance_of<std::int32_t>(columns, sizeof(double));
}

TEST(SparseReadDistance, IsNearWhileThePartFitsIntoACache) {
  EXPECT_EQ(distance_of([](n, n, n any) { return any % 8'000'000; }, 10'000), read_distance::near);
  EXPECT_EQ(detail::read_distance_of<std::int32_t>({}, sizeof(double)), read_distance::near);
}

TEST(SparseReadDistance, IsFarOnlyForLinesThatAreReadOnceAllOverALargeVector) {
  EXPECT_EQ(distance_of([](n, n, n any) { return any % 8'000'000; }), read_distance::far);
  EXPECT_EQ(distance_of([](n, n, n any) { return any % 1'000'000; }), read_distance::streamed);
  EXPECT_EQ(distance_of([](n row, n, n any) { return 70 * row + any % 1000; }),
            read_distance::streamed)
      << "a band";
  EXPECT_EQ(distance_of([](n row, n k, n) { return row + k * 500'000; }), read_distance::streamed)
      << "a grid: a row reads the lines that the row above has read";
}

} // namespace
} // namespace nodewise::test
