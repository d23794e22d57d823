// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/moved.hpp"

#include <gtest/gtest.h>

namespace nodewise::observe {
namespace {

constexpr node_id first{0};
constexpr node_id second{1};
constexpr std::size_t page = 4096;

located_mapping mapping_at(std::uint64_t first_page, std::vector<page_run> runs) {
  located_mapping made;
  made.what.where.first = first_page * page;
  made.runs = std::move(runs);
  return made;
}

TEST(ObserveMoved, OnlyPagesWithANodeArePlaced) {
  const std::vector<located_mapping> all = {
      mapping_at(16, {{4, first}, {2, absent_page}, {3, unknown_node}, {1, second}}),
      mapping_at(64, {{1, zero_page}, {8, second}})};
  const std::vector<placed_run> expected = {{16, 4, first}, {25, 1, second}, {65, 8, second}};
  EXPECT_EQ(placed_runs(all, page), expected);
}

TEST(ObserveMoved, CountsThePagesOfBothLooksOnAnotherNode) {
  const std::vector<placed_run> before = {{10, 10, first}, {20, 10, second}, {100, 5, first}};
  EXPECT_EQ(moved_pages(before, before), 0U);
  const std::vector<placed_run> now = {{5, 7, second}, {12, 16, first}, {102, 1, second}};
  // 10 and 11; 20 to 27; 102.
  EXPECT_EQ(moved_pages(before, now), 2U + 8U + 1U);
}

TEST(ObserveMoved, PagesOfOneLookAloneHaveNotMoved) {
  const std::vector<placed_run> before = {{10, 10, first}};
  const std::vector<placed_run> now = {{20, 10, second}};
  EXPECT_EQ(moved_pages(before, now), 0U);
  EXPECT_EQ(moved_pages({}, now), 0U);
  EXPECT_EQ(moved_pages(before, {}), 0U);
}

} // namespace
} // namespace nodewise::observe
