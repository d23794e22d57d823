// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/sparse_matrix.hpp>

#include <unistd.h>

#include <algorithm>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "unit/any_node.hpp"
#include "unit/simulated_teams.hpp"
#include "unit/sparse_matrices.hpp"

namespace nodewise::test {
namespace {

using matrix = sparse_matrix<double>;

TEST(SparseMatrix, HoldsTheArraysThatItWasBuiltFrom) {
  for (const char* machine : {"1x1", "2x2", "4x2", "8x1"}) {
    auto teams = teams_of(machine);
    for (const matrix_shape& shape : shapes) {
      const auto plain = random_matrix<double, std::int32_t, std::int64_t>(
          shape.rows, shape.columns, shape.mean, 1);
      const auto made = copy_of(teams, plain);
      EXPECT_EQ(made.rows(), plain.rows());
      EXPECT_EQ(made.columns(), plain.columns);
      EXPECT_EQ(made.entries(), plain.values.size());
      EXPECT_TRUE(std::ranges::equal(made.row_starts(), plain.starts));
      EXPECT_TRUE(std::ranges::equal(made.column_indices(), plain.indices));
      EXPECT_TRUE(std::ranges::equal(made.values(), plain.values));
    }
  }
}

TEST(SparseMatrix, EveryRowIsFilledByItsOwner) {
  auto teams = teams_of("4x2");
  constexpr std::size_t rows = 4000;
  const auto made = matrix::from_rows(
      teams, rows, rows, [](std::size_t row) { return row % 7; },
      [](std::size_t row, auto columns, auto values) {
        ASSERT_EQ(columns.size(), row % 7);
        std::ranges::fill(columns, static_cast<std::int32_t>(row));
        std::ranges::fill(values, 1.0);
      });
  std::size_t least = rows;
  std::size_t most = 0;
  for (std::size_t k = 0; k < 8; ++k) {
    const index_range mine = made.partition().rows_of(k);
    least = std::min(least, mine.size());
    most = std::max(most, mine.size());
    EXPECT_EQ(made.partition().owners()[k], teams.threads().workers()[k].node);
  }
  EXPECT_LE(most - least, 7U);
}

TEST(SparseMatrix, RowsAreCutByTheBytesOfTheirEntries) {
  auto teams = teams_of("2x1");
  // A tenth of the rows has most of the entries.
  const auto made = matrix::from_rows(
      teams, 1000, 1000, [](std::size_t row) { return row < 100 ? 100 : 1; },
      [](std::size_t, auto columns, auto) { std::iota(columns.begin(), columns.end(), 0); });
  const std::size_t first = made.partition().rows_of(0).size();
  const std::size_t row_bytes = 8 + 2 * 8;
  const std::size_t all = (100 * 100 + 900) * 12 + 1000 * row_bytes;
  const std::size_t of_first = first * (100 * 12 + row_bytes);
  EXPECT_LT(first, 100U);
  EXPECT_NEAR(static_cast<double>(of_first), static_cast<double>(all) / 2, 100 * 12 + row_bytes);
}

TEST(SparseMatrix, TripletsAreSortedAndThoseAtOnePlaceAdded) {
  std::mt19937 random(3);
  for (const char* machine : {"1x1", "4x2"}) {
    auto teams = teams_of(machine);
    for (const matrix_shape& shape : shapes) {
      std::vector<triplet<double>> triplets;
      std::map<std::pair<std::int32_t, std::int32_t>, double> expected;
      for (std::size_t k = 0; k < shape.rows * shape.mean; ++k) {
        const auto row = static_cast<std::int32_t>(random() % shape.rows);
        const auto column = static_cast<std::int32_t>(random() % shape.columns);
        triplets.push_back({row, column, 0.1 * static_cast<double>(random() % 100)});
        expected[{row, column}] += triplets.back().value;
      }
      const auto made = matrix::from_triplets(teams, shape.rows, shape.columns, triplets);
      ASSERT_EQ(made.entries(), expected.size());
      auto at = expected.begin();
      for (std::size_t row = 0; row < shape.rows; ++row) {
        for (auto k = made.row_starts()[row]; k < made.row_starts()[row + 1]; ++k, ++at) {
          const auto entry = static_cast<std::size_t>(k);
          ASSERT_EQ(at->first,
                    std::pair(static_cast<std::int32_t>(row), made.column_indices()[entry]));
          ASSERT_EQ(at->second, made.values()[entry]); // the same order of additions: the same bits
        }
      }
    }
  }
}

TEST(SparseMatrix, AMatrixMayHaveNoEntries) {
  auto teams = teams_of("4x1");
  const auto made = matrix::from_triplets(teams, 5, 3, {});
  EXPECT_EQ(made.entries(), 0U);
  EXPECT_EQ(made.rows(), 5U);
  EXPECT_EQ(made.row_starts().back(), 0);
  EXPECT_FALSE(made.strip().empty());
}

TEST(SparseMatrix, AdoptedArraysStayWhereTheyAre) {
  auto teams = teams_of("4x2");
  for (const matrix_shape& shape : shapes) {
    const auto plain =
        random_matrix<float, std::int32_t, std::int32_t>(shape.rows, shape.columns, shape.mean, 5);
    const auto before = plain;
    const auto made = sparse_matrix<float, std::int32_t, std::int32_t>::adopt(
        teams, plain.columns, plain.starts, plain.indices, plain.values);
    EXPECT_EQ(made.values().data(), plain.values.data());
    EXPECT_EQ(made.column_indices().data(), plain.indices.data());
    EXPECT_EQ(made.row_starts().data(), plain.starts.data());
    EXPECT_EQ(plain.values, before.values);
    EXPECT_EQ(plain.indices, before.indices);
    EXPECT_EQ(made.partition(), copy_of(teams, plain).partition());
    EXPECT_FALSE(made.strip().empty());
  }
}

TEST(SparseMatrix, ItsPagesAreOnTheOwnersOfTheRows) {
  const topology here = topology::from_sysfs();
  simulated_teams teams(here, {.threads = 4});
  const auto plain = random_matrix<double, std::int32_t, std::int64_t>(20000, 20000, 20, 9);
  for (const auto& made : {copy_of(teams, plain), matrix::adopt(teams, plain.columns, plain.starts,
                                                                plain.indices, plain.values)}) {
    const residency found = made.residency();
    const std::size_t bytes = made.entries() * 12 + made.rows() * 8;
    EXPECT_GE(found.resident, bytes / 65536);
    EXPECT_EQ(found.resident, found.pages);
    if (found.exactness == resolution::page) {
      EXPECT_EQ(found.on_owner, found.resident);
      std::size_t on_nodes = 0;
      for (const residency::share& each : found.per_node) {
        on_nodes += each.pages;
      }
      EXPECT_EQ(on_nodes, found.resident);
    }
    const std::string drawn = made.strip(10);
    EXPECT_EQ(std::ranges::count(drawn, '\n'), 2);
  }
}

TEST(SparseMatrix, VectorsFollowTheRows) {
  auto teams = teams_of("4x1");
  const auto made = matrix::from_rows(
      teams, 40000, 20000, [](std::size_t row) { return row < 20000 ? 1 : 3; },
      [](std::size_t, auto columns, auto) { std::iota(columns.begin(), columns.end(), 0); });
  const auto y = made.output_vector();
  const auto x = made.input_vector();
  EXPECT_EQ(y.size(), 40000U);
  EXPECT_EQ(x.size(), 20000U);
  EXPECT_EQ(made.input_vector(3).size(), 60000U);
  EXPECT_THROW((void)made.output_vector(0), error);
  EXPECT_THROW((void)made.output_vector(SIZE_MAX / 2), error);
  const std::size_t rows_of_first = made.partition().rows_of(0).size();
  EXPECT_EQ(y.distribution().extents(40000).front().last_page, rows_of_first);
  EXPECT_EQ(x.distribution().extents(20000).front().last_page, (rows_of_first + 1) / 2);
}

/// The whole text of the error.
template <class F>
std::string refused(F&& f) {
  try {
    f();
  } catch (const error& failed) {
    EXPECT_EQ(failed.kind(), error_kind::usage);
    EXPECT_FALSE(failed.hint().empty());
    return failed.what();
  }
  return "nothing was refused";
}

TEST(SparseMatrix, RefusesArraysThatAreNoMatrix) {
  auto teams = teams_of("2x2");
  const std::vector<double> values(3, 1.0);
  const auto tried = [&](std::size_t columns, std::vector<std::int64_t> starts,
                         std::vector<std::int32_t> indices) {
    const std::string copied =
        refused([&] { (void)matrix::copy(teams, columns, starts, indices, values); });
    const std::string adopted =
        refused([&] { (void)matrix::adopt(teams, columns, starts, indices, values); });
    EXPECT_EQ(copied, adopted);
    return copied;
  };
  EXPECT_NE(tried(4, {}, {0, 1, 2}).find("no row start"), std::string::npos);
  EXPECT_NE(tried(4, {1, 3}, {0, 1, 2}).find("from 1 to 3"), std::string::npos);
  EXPECT_NE(tried(4, {0, 2}, {0, 1, 2}).find("from 0 to 2"), std::string::npos);
  EXPECT_NE(tried(4, {0, 3}, {0, 1}).find("2 column indices"), std::string::npos);
  EXPECT_NE(tried(4, {0, 2, 1, 3}, {0, 1, 2}).find("row 1"), std::string::npos);
  EXPECT_NE(tried(4, {0, 9, 9, 3}, {0, 1, 2}).find("row 0"), std::string::npos);
  EXPECT_NE(tried(4, {0, -2, 3}, {0, 1, 2}).find("row 0"), std::string::npos);
  EXPECT_NE(tried(2, {0, 3}, {0, 1, 2}).find("column 2"), std::string::npos);
  EXPECT_NE(tried(2, {0, 3}, {0, -1, 1}).find("column -1"), std::string::npos);
  EXPECT_NE(tried(0, {0, 3}, {0, 1, 1}).find("0 columns"), std::string::npos);
}

TEST(SparseMatrix, RefusesSizesAndTripletsOutOfRange) {
  auto teams = teams_of("2x2");
  const auto triplets = [&](std::size_t rows, std::size_t columns, triplet<double> last) {
    return refused([&] {
      (void)matrix::from_triplets(teams, rows, columns,
                                  std::vector<triplet<double>>{{0, 0, 1.0}, last});
    });
  };
  EXPECT_NE(triplets(4, 4, {4, 0, 1.0}).find("triplet 1, at row 4"), std::string::npos);
  EXPECT_NE(triplets(4, 4, {-1, 0, 1.0}).find("row -1"), std::string::npos);
  EXPECT_NE(triplets(4, 4, {0, 4, 1.0}).find("column 4"), std::string::npos);
  EXPECT_NE(triplets(4, 4, {0, -4, 1.0}).find("column -4"), std::string::npos);
  EXPECT_NE(triplets(0, 4, {0, 0, 1.0}).find("0 rows"), std::string::npos);
  EXPECT_NE(triplets(1, std::size_t{1} << 40, {0, 0, 1.0}).find("wider type"), std::string::npos);
  const auto rows = [&](std::int64_t length) {
    return refused([&] {
      using narrow = sparse_matrix<double, std::int32_t, std::int16_t>;
      (void)narrow::from_rows(
          teams, 8, 8, [=](std::size_t) { return length; }, [](std::size_t, auto, auto) {});
    });
  };
  EXPECT_NE(rows(-1).find("fewer than 0"), std::string::npos);
  EXPECT_NE(rows(40000).find("32767"), std::string::npos);
  EXPECT_NE(rows(6000).find("32767"), std::string::npos);
  EXPECT_NE(rows(INT64_MAX).find("32767"), std::string::npos);
}

TEST(SparseMatrix, RefusesMoreRowsThanTheMachineHasMemoryFor) {
  auto teams = teams_of("2x2");
  using wide = sparse_matrix<double, std::int64_t>;
  const auto too_many = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) *
                            static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 8 +
                        1;
  for (const std::size_t rows : {too_many, std::size_t{1} << 60, SIZE_MAX}) {
    const std::string from_rows = refused([&] {
      (void)wide::from_rows(
          teams, rows, 4, [](std::size_t) { return 0; }, [](std::size_t, auto, auto) {});
    });
    EXPECT_NE(from_rows.find(std::to_string(rows) + " rows"), std::string::npos);
    EXPECT_NE(from_rows.find("bytes of memory"), std::string::npos);
    EXPECT_EQ(from_rows, refused([&] { (void)wide::from_triplets(teams, rows, 4, {}); }));
  }
}

} // namespace
} // namespace nodewise::test
