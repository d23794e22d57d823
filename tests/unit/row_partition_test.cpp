// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/row_partition.hpp>

#include <random>

#include <gtest/gtest.h>

namespace nodewise {
namespace {

std::vector<node_id> nodes(int count) {
  std::vector<node_id> made;
  for (int k = 0; k < count; ++k) {
    made.push_back(node_id{k});
  }
  return made;
}

TEST(RowPartition, NoWorkerHasMoreThanTheMeanAndTheLongestRow) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::size_t rows = 1 + random() % 400;
    const std::size_t multiple = 1 + random() % 9;
    std::vector<std::size_t> before{0};
    std::size_t longest = 0; // of all groups of `multiple` rows
    for (std::size_t row = 0; row < rows; ++row) {
      before.push_back(before.back() + (random() % 20 == 0 ? random() % 5000 : random() % 10));
      longest = std::max(longest, before[row + 1] - before[row / multiple * multiple]);
    }
    const int workers = 1 + static_cast<int>(random() % 40);
    const auto cut = row_partition::balanced(
        nodes(workers), rows, [&](std::size_t row) { return before[row]; }, multiple);
    std::size_t next = 0;
    for (std::size_t k = 0; k < cut.workers(); ++k) {
      const index_range mine = cut.rows_of(k);
      ASSERT_EQ(mine.first, next);
      ASSERT_TRUE(mine.size() == 0 || mine.first % multiple == 0);
      next = mine.last;
      ASSERT_LE(before[mine.last] - before[mine.first],
                before.back() / cut.workers() + 1 + longest);
    }
    ASSERT_EQ(next, rows);
  }
}

TEST(RowPartition, EqualRowsAreCutEqually) {
  const auto cut =
      row_partition::balanced(nodes(4), 1000, [](std::size_t row) { return 12 * row; });
  EXPECT_EQ(cut, row_partition(nodes(4), {250, 500, 750, 1000}));
}

TEST(RowPartition, RowsWithoutCostBelongToSomebody) {
  const auto cut = row_partition::balanced(nodes(4), 10, [](std::size_t) { return 0U; });
  EXPECT_EQ(cut.rows_of(3).last, 10U);
  EXPECT_EQ(cut.rows_of(0).first, 0U);
}

TEST(RowPartition, ArraysFollowTheCut) {
  const row_partition cut({node_id{1}, node_id{0}, node_id{2}}, {10, 10, 40});
  EXPECT_EQ(cut.by_rows().extents(40),
            (std::vector<extent>{{0, 10, node_id{1}}, {10, 40, node_id{2}}}));
  const auto before = [](std::size_t row) { return row < 20 ? row : 3 * row - 40; };
  EXPECT_EQ(cut.by_elements(before).extents(80),
            (std::vector<extent>{{0, 10, node_id{1}}, {10, 80, node_id{2}}}));
  const auto none = [](std::size_t) { return 0U; };
  EXPECT_EQ(cut.by_elements(none).owner(0, 1), node_id{2});
}

TEST(RowPartition, RefusesEndsThatAreNoCut) {
  EXPECT_THROW(row_partition({}, {}), error);
  EXPECT_THROW(row_partition(nodes(2), {5}), error);
  EXPECT_THROW(row_partition(nodes(2), {5, 4}), error);
  EXPECT_THROW(row_partition(nodes(2), {0, 0}), error);
  EXPECT_THROW(row_partition({unknown_node}, {4}), error);
}

TEST(RowPartition, BlocksMayBeLongerThanAWeightCanSay) {
  const std::size_t half = std::size_t{5} << 32;
  const auto by = weighted_blocks::ending_at(nodes(2), {half, 2 * half});
  EXPECT_EQ(by.extents(1000), (std::vector<extent>{{0, 500, node_id{0}}, {500, 1000, node_id{1}}}));
  EXPECT_EQ(by.owner(499, 1000), node_id{0});
  EXPECT_EQ(by.owner(500, 1000), node_id{1});
}

} // namespace
} // namespace nodewise
