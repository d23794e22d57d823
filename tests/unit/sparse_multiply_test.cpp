// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/sparse_multiply.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "unit/simulated_teams.hpp"
#include "unit/sparse_matrices.hpp"

namespace nodewise::test {
namespace {

template <class Types>
class SparseMultiply : public testing::Test {};

using types = testing::Types<
    std::tuple<double, std::int32_t, std::int64_t>, std::tuple<double, std::int32_t, std::int32_t>,
    std::tuple<double, std::int64_t, std::int64_t>,
    std::tuple<double, std::uint32_t, std::uint64_t>, std::tuple<float, std::int32_t, std::int64_t>,
    std::tuple<float, std::int32_t, std::int32_t>, std::tuple<float, std::int64_t, std::int32_t>>;
TYPED_TEST_SUITE(SparseMultiply, types);

const auto machines = {"1x1", "2x2", "4x2", "8x4"};

TYPED_TEST(SparseMultiply, IsThePlainProduct) {
  using T = std::tuple_element_t<0, TypeParam>;
  using Index = std::tuple_element_t<1, TypeParam>;
  using Offset = std::tuple_element_t<2, TypeParam>;
  for (const char* machine : machines) {
    auto teams = teams_of(machine);
    for (const matrix_shape& shape : shapes) {
      const auto plain = random_matrix<T, Index, Offset>(shape.rows, shape.columns, shape.mean, 2);
      const auto x = random_vector<T>(shape.columns, 3);
      const auto a = copy_of(teams, plain);
      std::vector<T> y(shape.rows, std::numeric_limits<T>::quiet_NaN()); // must not be read
      multiply(teams, a, x, y);
      ASSERT_EQ(y, plain_product(plain, x)) << machine << ' ' << shape.rows;
      const auto before = random_vector<T>(shape.rows, 4);
      y = before;
      multiply_add(teams, T{-3}, a, x, y);
      ASSERT_EQ(y, plain_product(plain, x, before, T{-3})) << machine << ' ' << shape.rows;
    }
  }
}

TYPED_TEST(SparseMultiply, ReadsTheCopyOfTheNode) {
  using T = std::tuple_element_t<0, TypeParam>;
  using Index = std::tuple_element_t<1, TypeParam>;
  using Offset = std::tuple_element_t<2, TypeParam>;
  auto teams = teams_of("4x2");
  const auto plain = random_matrix<T, Index, Offset>(500, 400, 20, 2);
  const auto x = random_vector<T>(400, 3);
  const auto a = copy_of(teams, plain);
  replicated<T> copies(teams.threads(), x.size());
  copies.update([&](std::span<T> copy) { std::ranges::copy(x, copy.begin()); });
  auto y = a.output_vector();
  multiply(teams, a, copies, y);
  EXPECT_TRUE(std::ranges::equal(y, plain_product(plain, x)));
  multiply_add(teams, T{2}, a, copies, y);
  EXPECT_TRUE(std::ranges::equal(y, plain_product(plain, x, plain_product(plain, x), T{2})));
}

TYPED_TEST(SparseMultiply, ManyVectorsAreThoseOfSingleProducts) {
  using T = std::tuple_element_t<0, TypeParam>;
  using Index = std::tuple_element_t<1, TypeParam>;
  using Offset = std::tuple_element_t<2, TypeParam>;
  auto teams = teams_of("4x2");
  for (const matrix_shape& shape : shapes) {
    const auto plain = random_matrix<T, Index, Offset>(shape.rows, shape.columns, shape.mean, 2);
    const auto a = copy_of(teams, plain);
    for (const std::size_t count : {1U, 3U, 4U, 8U, 15U}) {
      auto x = a.input_vector(count);
      auto y = a.output_vector(count);
      ASSERT_EQ(y.size(), count * shape.rows);
      for (std::size_t k = 0; k < count; ++k) {
        const auto one = random_vector<T>(shape.columns, static_cast<unsigned>(k));
        for (std::size_t i = 0; i < one.size(); ++i) {
          x[i * count + k] = one[i];
        }
      }
      multiply_many(teams, a, count, x, y);
      for (std::size_t k = 0; k < count; ++k) {
        const auto expected =
            plain_product(plain, random_vector<T>(shape.columns, static_cast<unsigned>(k)));
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(y[i * count + k], expected[i]) << count << " vectors, row " << i;
        }
      }
    }
  }
}

void expect_same_bits_on_all_machines(const plain_matrix<double>& plain,
                                      const std::vector<double>& x) {
  std::vector<double> expected;
  for (const char* machine : machines) {
    auto teams = teams_of(machine);
    std::vector<double> y(plain.rows());
    multiply(teams, copy_of(teams, plain), x, y);
    if (expected.empty()) {
      expected = y;
    }
    EXPECT_EQ(y, expected) << machine;
  }
}

TEST(SparseMultiplyBits, AreThoseOfAnyNumberOfWorkers) {
  auto [plain, x] = matrix_whose_sums_depend_on_order();
  expect_same_bits_on_all_machines(plain, x); // rows of unlike length
  const std::size_t rows = plain.values.size() / 13;
  plain.starts.resize(1);
  for (std::size_t row = 1; row <= rows; ++row) {
    // One worker of four has rows of unlike length; all follow the same order.
    const std::size_t change = row < rows / 5 ? row % 2 : 0;
    plain.starts.push_back(static_cast<std::int64_t>(13 * row - change));
  }
  plain.values.resize(13 * rows);
  plain.indices.resize(13 * rows);
  expect_same_bits_on_all_machines(plain, x);
}

TYPED_TEST(SparseMultiply, OfFarRowsIsThePlainProduct) {
  using T = std::tuple_element_t<0, TypeParam>;
  using Index = std::tuple_element_t<1, TypeParam>;
  using Offset = std::tuple_element_t<2, TypeParam>;
  constexpr std::size_t columns = 6'000'000;
  plain_matrix<T, Index, Offset> plain;
  plain.columns = columns;
  std::mt19937 random(5);
  for (std::size_t row = 0; row < 25'000; ++row) {
    for (std::size_t k = 0; k < 12; ++k) {
      plain.indices.push_back(static_cast<Index>(random() % columns));
    }
    plain.starts.push_back(static_cast<Offset>(plain.indices.size()));
  }
  plain.values = random_vector<T>(plain.indices.size(), 6);
  const auto x = random_vector<T>(columns, 3);
  auto teams = teams_of("2x1");
  std::vector<T> y(plain.rows());
  multiply(teams, copy_of(teams, plain), x, y);
  EXPECT_EQ(y, plain_product(plain, x));
}

TEST(SparseMultiplyInput, LocalityIsTheShareOfColumnsOnTheRowsOwnNode) {
  auto teams = teams_of("4x2");
  const auto locality_of = [&](std::size_t columns, auto column) {
    const auto a = sparse_matrix<double>::from_rows(
        teams, 800, columns, [](std::size_t) { return 1; },
        [&](std::size_t row, auto to, auto) { to[0] = static_cast<std::int32_t>(column(row)); });
    return input_locality(teams, a);
  };
  EXPECT_EQ(locality_of(800, [](std::size_t row) { return row; }), 1.0);
  EXPECT_EQ(locality_of(400, [](std::size_t row) { return row / 2; }), 1.0);
  EXPECT_EQ(locality_of(800, [](std::size_t row) { return (row + 200) % 800; }), 0.0);
  EXPECT_EQ(locality_of(800, [](std::size_t row) { return (row + 100) % 800; }), 0.5);
  EXPECT_EQ(locality_of(800, [](std::size_t) { return 0; }), 0.25);
  EXPECT_EQ(locality_of(1, [](std::size_t) { return 0; }), 0.25);
  EXPECT_EQ(input_locality(teams, sparse_matrix<double>::from_triplets(teams, 3, 3, {})), 1.0);
}

TEST(SparseMultiplyErrors, NameWhatDoesNotFit) {
  auto teams = teams_of("2x2");
  auto others = teams_of("4x1");
  const auto plain = random_matrix<double, std::int32_t, std::int64_t>(40, 30, 5, 2);
  const auto a = copy_of(teams, plain);
  std::vector<double> x(30);
  std::vector<double> y(40);
  const auto refused = [&](auto& by, std::span<const double> from, std::span<double> to) {
    try {
      multiply(by, a, from, to);
    } catch (const error& failed) {
      return std::string(failed.what());
    }
    return std::string("nothing was refused");
  };
  EXPECT_NE(refused(teams, std::span(x).first(29), y).find("29 elements"), std::string::npos);
  EXPECT_NE(refused(teams, x, std::span(y).first(39)).find("result of 39"), std::string::npos);
  EXPECT_NE(refused(others, x, y).find("cut for 4 workers on other nodes"), std::string::npos);
  auto fewer = teams_of("2x1");
  EXPECT_NE(refused(fewer, x, y).find("teams of 2 workers"), std::string::npos);
  EXPECT_THROW(multiply_many(teams, a, 0, {}, {}), error);
  EXPECT_THROW(multiply_many(teams, a, 2, x, y), error);
  EXPECT_THROW(multiply_many(teams, a, 7, x, y), error);
  std::vector<double> both(69);
  EXPECT_NE(refused(teams, std::span(both).first(30), std::span(both).last(40)).find("overlaps"),
            std::string::npos);
  EXPECT_NE(refused(teams, std::span(both).last(30), std::span(both).first(40)).find("overlaps"),
            std::string::npos);
}

} // namespace
} // namespace nodewise::test
