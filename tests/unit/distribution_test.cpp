// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Distributions of the library, and that the words of the command line place the same way.
#include <nodewise/distribution.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "placement/resolve.hpp"

namespace nodewise {
namespace {

std::vector<node_id> nodes(std::initializer_list<int> numbers) {
  std::vector<node_id> ids;
  for (const int number : numbers) {
    ids.push_back(node_id{number});
  }
  return ids;
}

/// What every distribution promises: each page one owner, extents ascend, cover, and agree with
/// owner().
template <distribution D>
void expect_consistent(const D& d, std::size_t pages) {
  std::size_t next = 0;
  node_id before = unknown_node;
  for (const extent& e : d.extents(pages)) {
    ASSERT_EQ(e.first_page, next);
    ASSERT_GT(e.last_page, e.first_page);
    ASSERT_NE(e.owner, before) << "neighbours with one owner are one extent";
    for (std::size_t page = e.first_page; page < e.last_page; ++page) {
      ASSERT_EQ(d.owner(page, pages), e.owner) << "page " << page << " of " << pages;
    }
    next = e.last_page;
    before = e.owner;
  }
  ASSERT_EQ(next, pages);
}

TEST(Blocked, EdgesAreAtThePagesNearestToEqualParts) {
  const auto extents = blocked(nodes({0, 1, 2, 3})).extents(10); // at 2.5, 5 and 7.5
  ASSERT_EQ(extents.size(), 4U);
  EXPECT_EQ(extents[0].last_page, 3U);
  EXPECT_EQ(extents[1].last_page, 5U);
  EXPECT_EQ(extents[2].last_page, 8U);
  EXPECT_EQ(extents[3].last_page, 10U);
}

// As a loop over the elements is cut: nobody's part begins pages away from its block.
TEST(Blocked, NoEdgeIsFartherFromItsPartThanHalfAPage) {
  const std::vector<node_id> owners = nodes({0, 1, 2, 3, 4, 5, 6, 7});
  for (std::size_t pages = 1; pages < 200; ++pages) {
    for (const extent& each : blocked(owners).extents(pages)) {
      const auto slot = static_cast<double>(static_cast<int>(each.owner));
      const double part = static_cast<double>(pages) / 8;
      EXPECT_LE(std::abs(static_cast<double>(each.first_page) - slot * part), 0.5);
      EXPECT_LE(std::abs(static_cast<double>(each.last_page) - (slot + 1) * part), 0.5);
    }
  }
}

TEST(Blocked, GivesANodeOneExtentForItsNeighbouringThreads) {
  const auto extents = blocked(nodes({0, 0, 0, 1})).extents(8);
  ASSERT_EQ(extents.size(), 2U);
  EXPECT_EQ(extents[0], (extent{0, 6, node_id{0}}));
}

TEST(Blocked, LeavesOwnersWithoutPagesOutWhereThereAreFewerPagesThanOwners) {
  EXPECT_EQ(blocked(nodes({0, 1, 2, 3})).extents(2).size(), 2U);
  EXPECT_TRUE(blocked(nodes({0, 1})).extents(0).empty());
}

TEST(BlockCyclic, DealsBlocksRoundAndCutsTheLast) {
  const auto extents = block_cyclic(nodes({7, 63}), 2).extents(7);
  const std::vector<extent> expected{
      {0, 2, node_id{7}}, {2, 4, node_id{63}}, {4, 6, node_id{7}}, {6, 7, node_id{63}}};
  EXPECT_EQ(extents, expected);
}

TEST(BlockCyclic, SurvivesABlockLargerThanAnyRange) {
  expect_consistent(block_cyclic(nodes({0, 1}), SIZE_MAX), 100);
}

TEST(Weighted, GivesPagesInProportion) {
  const auto extents = weighted_blocks(nodes({0, 1, 2}), {3, 0, 1}).extents(100);
  const std::vector<extent> expected{{0, 75, node_id{0}}, {75, 100, node_id{2}}};
  EXPECT_EQ(extents, expected);
}

TEST(Weighted, StaysExactWherePagesTimesWeightsPass64Bits) {
  const weighted_blocks d(nodes({0, 1}), {4294967295U, 4294967295U});
  const std::size_t pages = std::size_t{1} << 52;
  EXPECT_EQ(d.extents(pages).at(0).last_page, pages / 2);
  EXPECT_EQ(d.owner(pages / 2 - 1, pages), node_id{0});
  EXPECT_EQ(d.owner(pages / 2, pages), node_id{1});
}

TEST(ExplicitMap, AnswersUnknownPastItsEndAndRefusesAnotherLength) {
  const explicit_map map({{0, 3, node_id{1}}, {3, 5, node_id{0}}});
  EXPECT_EQ(map.owner(4, 5), node_id{0});
  EXPECT_EQ(map.owner(5, 5), unknown_node);
  EXPECT_THROW((void)map.extents(6), error);
}

TEST(Distributions, RefuseWhatMakesNoSense) {
  EXPECT_THROW(blocked({}), error);
  EXPECT_THROW(bound{unknown_node}, error);
  EXPECT_THROW(block_cyclic(nodes({0}), 0), error);
  EXPECT_THROW(weighted_blocks(nodes({0, 1}), {1}), error);
  EXPECT_THROW(weighted_blocks(nodes({0, 1}), {0, 0}), error);
  EXPECT_THROW(explicit_map({{1, 2, node_id{0}}}), error);
  EXPECT_THROW(explicit_map({{0, 2, node_id{0}}, {3, 4, node_id{0}}}), error);
}

TEST(Distributions, CoverEveryPageOnceForRandomOwnersSizesAndWeights) {
  std::mt19937 random(20); // NOLINT: the same cases in every run
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (int round = 0; round < 300; ++round) {
    std::vector<node_id> owners;
    std::vector<std::uint32_t> weights;
    for (std::size_t i = 0, count = 1 + below(20); i < count; ++i) {
      owners.push_back(node_id{static_cast<int>(below(1001))});
      weights.push_back(static_cast<std::uint32_t>(below(5) + (i == 0 ? 1 : 0)));
    }
    const std::size_t pages = below(3000);
    expect_consistent(bound(owners.front()), pages);
    expect_consistent(blocked(owners), pages);
    expect_consistent(block_cyclic(owners, 1 + below(70)), pages);
    expect_consistent(weighted_blocks(owners, weights), pages);
    expect_consistent(explicit_map(blocked(owners).extents(pages)), pages);
  }
}

/// Four threads on three nodes, the last two on node 2. All nodes have memory.
const placements::surroundings four_threads{
    [] { return nodes({0, 1, 2, 2}); },
    0,
    [] { return node_set::parse("0-2"); },
    [] { return node_set::parse("0-2"); },
    [](const node_set& of) { return placements::in_turn(of); },
};

/// The node of each page of an array, from what the agent gets.
std::vector<node_id> owners_by_word(std::string_view text, std::size_t pages) {
  constexpr std::size_t page_bytes = 4096;
  const auto what = placements::resolved(
      placements::read(text, placements::grammar::command_line,
                       [](std::string_view list) { return node_set::parse(list); }),
      placements::grammar::command_line, four_threads);
  const auto& is = placements::traits_of(what.how);
  const auto owners = is.has_blocks() ? four_threads.threads() : placements::owners_of(what.owners);
  const std::size_t granule = std::max<std::size_t>(1, what.granule_bytes / page_bytes);
  std::vector<node_id> all;
  for (std::size_t page = 0; page < pages; ++page) {
    const bool by_parts = is.divided == placements::division::parts;
    all.push_back(owners[by_parts ? arithmetic::blocked_slot(page, pages, owners.size())
                                  : arithmetic::block_cyclic_slot(page, granule, owners.size())]);
  }
  return all;
}

template <distribution D>
void expect_same_pages(std::string_view text, const D& by) {
  for (const std::size_t pages : {1U, 5U, 64U, 1000U}) {
    const auto found = owners_by_word(text, pages);
    for (std::size_t page = 0; page < pages; ++page) {
      ASSERT_EQ(found[page], by.owner(page, pages)) << text << ", page " << page;
    }
  }
}

TEST(Distributions, PlaceTheSamePagesAsTheirWords) {
  expect_same_pages("bind:1", bound(node_id{1}));
  expect_same_pages("blocked", blocked(nodes({0, 1, 2, 2})));
  expect_same_pages("interleave", block_cyclic(nodes({0, 1, 2}), 1));
  expect_same_pages("interleave:0,2", block_cyclic(nodes({0, 2}), 1));
  expect_same_pages("cyclic:64K", block_cyclic(nodes({0, 1, 2}), 16));
  expect_same_pages("cyclic:8K:1-2", block_cyclic(nodes({1, 2}), 2));
  expect_same_pages("weighted:0=2,2=1", block_cyclic(nodes({0, 0, 2}), 1));
  expect_same_pages("weighted:auto:1-2", block_cyclic(nodes({1, 2}), 1));
}

} // namespace
} // namespace nodewise
