// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The agent's extents are those of the library's distributions.
#include <cerrno>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <nodewise/distribution.hpp>

#include "agent/alloc/extents.hpp"
#include "agent/alloc/front.hpp"
#include "agent/alloc/placement.hpp"
#include "agent/alloc/system_facts.hpp"
#include "agent/page.hpp"
#include "unit/parsed_settings.hpp"

namespace nodewise::agent {
namespace {

object large(std::size_t bytes, const placement& where, std::size_t granule) {
  object made{};
  made.bytes = made.placed_bytes = made.mapped_bytes = bytes;
  made.where = &where;
  made.granule_bytes = granule;
  return made;
}

std::vector<nodewise::extent> extents_of(const object& what, std::size_t unit) {
  std::vector<nodewise::extent> found;
  extent_cursor all(what);
  std::size_t begin = 0;
  for (extent each{}; all.next(each);) {
    EXPECT_EQ(each.begin, begin);
    EXPECT_LT(each.begin, each.end);
    begin = each.end;
    nodewise::detail::append(found, {each.begin / unit, each.end / unit}, node_id{each.node});
  }
  EXPECT_EQ(begin, what.mapped_bytes);
  return found;
}

std::size_t count(const object& what) {
  std::size_t all = 0;
  extent_cursor each(what);
  for (extent now{}; each.next(now); ++all) {
  }
  return all;
}

std::vector<node_id> nodes_of(const owner_list& owners) {
  std::vector<node_id> nodes;
  for (std::size_t run = 0; run < owners.runs; ++run) {
    nodes.resize(run + 1 < owners.runs ? owners.run[run + 1].first_slot : owners.slots,
                 node_id{owners.run[run].node});
  }
  return nodes;
}

const char* const owner_texts[] = {"0", "0*4,1*4", "0,1,2,3", "3*2,1*5,0*1", "0*3,1,0*3"};

TEST(AgentExtents, BlocksAreTheLibrarysBlocks) {
  for (const std::string owners : owner_texts) {
    const parsed all("v3;threshold=1;default=blocked;owners=" + owners);
    const settings& asked = all.read;
    const blocked library(nodes_of(asked.owners));
    for (const std::size_t granule : {page_bytes(), std::size_t{2} << 20}) {
      for (std::size_t pages = 1; pages < 200; ++pages) {
        ASSERT_EQ(extents_of(large(pages * granule, asked.standard, granule), granule),
                  library.extents(pages))
            << owners << ", " << pages << " pages";
      }
    }
  }
}

TEST(AgentExtents, BlocksOfRowsEndWhereALoopOverRowsEnds) {
  const std::size_t row = 100 * page_bytes() + 8;
  const parsed all("v3;threshold=1;owners=0,1,2,3;default=blocked@" + std::to_string(row));
  const auto found = extents_of(large(10 * row, all.read.standard, page_bytes()), page_bytes());
  ASSERT_EQ(found.size(), 4U); // of 3, 3, 2 and 2 rows, at the nearest page
  EXPECT_EQ(found[0].last_page, 300U);
  EXPECT_EQ(found[1].last_page, 600U);
  EXPECT_EQ(found[2].last_page, 800U);
  const object few = large(2 * row, all.read.standard, page_bytes());
  EXPECT_EQ(extents_of(few, page_bytes()).size(), 2U) << "two threads have no row";
  EXPECT_EQ(extents_of(large(row / 2, all.read.standard, page_bytes()), page_bytes()).size(), 1U);
}

TEST(AgentExtents, AShortLastHugePageMovesNoEdge) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  const parsed all("v3;threshold=1;default=blocked;owners=0*2,1*2,2*2,3*2");
  const object what = large(64 * mib + page_bytes(), all.read.standard, 2 * mib);
  extent_cursor cursor(what);
  std::vector<std::size_t> ends;
  for (extent each{}; cursor.next(each);) {
    ends.push_back(each.end);
  }
  EXPECT_EQ(ends, (std::vector<std::size_t>{16 * mib, 32 * mib, 48 * mib, what.mapped_bytes}));
}

/// Whatever the threads' owners are.
TEST(AgentExtents, AMapHasTheLibrarysWeights) {
  for (const std::string owners : owner_texts) {
    const parsed all("v3;threshold=1;owners=7;default=map@" + owners);
    const owner_list& parts = all.read.standard.owners;
    for (const std::size_t granule : {page_bytes(), std::size_t{2} << 20}) {
      for (std::size_t pages = 1; pages < 200; ++pages) {
        const object what = large(pages * granule, all.read.standard, granule);
        std::vector<nodewise::extent> wanted;
        for (std::size_t slot = 0; slot < parts.slots; ++slot) {
          const auto range = arithmetic::weighted(slot, 1, parts.slots, pages);
          nodewise::detail::append(wanted, range, nodes_of(parts)[slot]);
        }
        ASSERT_EQ(extents_of(what, granule), wanted) << owners << ", " << pages;
        ASSERT_LE(count(what), count_extents(what));
      }
    }
  }
}

/// As many parts as the object had pages when it was looked at: each page has its own.
TEST(AgentExtents, AMapByPagesIsRightForAnObjectOfAnySize) {
  const parsed all("v3;threshold=1;default=map@0*100,1*300,2*200");
  for (const std::size_t pages : {6U, 60U, 600U, 900U, 6000U}) {
    const auto found =
        extents_of(large(pages * page_bytes(), all.read.standard, page_bytes()), page_bytes());
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].last_page, pages / 6);
    EXPECT_EQ(found[1].last_page, pages * 2 / 3);
  }
}

/// In parts of at least so many owners; of those that are joined the longest decides.
TEST(AgentExtents, ACoarserMapHasFewerParts) {
  const parsed all("v3;threshold=1;default=map@0*1,1*2,2*1,3*4,0*1");
  object what = large(90 * page_bytes(), all.read.standard, page_bytes());
  EXPECT_EQ(count(what), 5U);
  what.coarse_slots = 2; // 0 and 1; 2 and 3; 0
  const auto found = extents_of(what, page_bytes());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].owner, node_id{1});
  EXPECT_EQ(found[0].last_page, 30U);
  EXPECT_EQ(found[1].owner, node_id{3});
  EXPECT_EQ(found[1].last_page, 80U);
  EXPECT_EQ(found[2].owner, node_id{0});
  EXPECT_EQ(count_extents(what), 3U);
  what.coarse_slots = 16;
  EXPECT_EQ(extents_of(what, page_bytes()).size(), 1U);
  EXPECT_EQ(count_extents(what), 1U);
}

TEST(AgentExtents, AMapOfThousandsOfPartsIsMadeToFitTheMappings) {
  if (extents_left() >= NODEWISE_AGENT_MAX_RUNS) {
    GTEST_SKIP() << "vm.max_map_count is large enough for the longest map";
  }
  std::string text = "v3;threshold=1;default=map@";
  for (int i = 0; i < NODEWISE_AGENT_MAX_RUNS; ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(i % 2) + "*1";
  }
  const parsed all(text);
  const std::size_t bytes = NODEWISE_AGENT_MAX_RUNS * page_bytes();
  object what = large(bytes, all.read.standard, page_bytes());
  EXPECT_EQ(count_extents(what), std::size_t{NODEWISE_AGENT_MAX_RUNS});
  what.start = map_behind_page(bytes, 1);
  ASSERT_NE(what.start, nullptr);
  place(what, present_pages::stay); // where there is one node, it is refused after the first part
  EXPECT_NE(what.flags & NODEWISE_AGENT_COARSER, 0U);
  EXPECT_EQ(what.flags & NODEWISE_AGENT_MAP_LIMIT, 0U);
  EXPECT_GT(what.coarse_slots, 1U);
  EXPECT_LE(count_extents(what), std::size_t{NODEWISE_AGENT_MAX_RUNS} / 2);
  EXPECT_TRUE((what.flags & NODEWISE_AGENT_PLACED) != 0 || what.refused_errno == EINVAL);
  reset(what);
  unmap(what.start - page_bytes(), page_bytes() + bytes);
  // A small object has but as many parts as pages.
  EXPECT_EQ(count_extents(large(3 * page_bytes(), all.read.standard, page_bytes())), 3U);
}

TEST(AgentExtents, GranulesAreTheLibrarysBlockCycles) {
  for (const std::string owners : owner_texts) {
    const parsed all("v3;threshold=1;default=cyclic@65536@" + owners);
    const settings& asked = all.read;
    const std::size_t granule = 65536;
    const block_cyclic library(nodes_of(asked.standard.owners), granule / page_bytes());
    for (std::size_t pages = 1; pages < 600; pages += 7) {
      const object what = large(pages * page_bytes(), asked.standard, granule);
      ASSERT_EQ(extents_of(what, page_bytes()), library.extents(pages))
          << owners << ", " << pages << " pages";
      EXPECT_LE(count(what), count_extents(what));
    }
  }
}

/// The page at which the second half begins of a group with blocks of different sizes.
std::size_t second_half_of_a_group(const settings& asked) {
  // 8 blocks: 4 of one page, then 4 of three pages; the first page of each begins it.
  std::vector<std::uint32_t> first_block(17, 0);
  std::uint32_t block = 0;
  std::size_t page = 0;
  for (const std::size_t pages : {1U, 1U, 1U, 1U, 3U, 3U, 3U, 3U}) {
    first_block[page] = block++;
    for (std::size_t i = 1; i < pages && block < 8; ++i) {
      first_block[page + i] = block; // the next one begins behind this page
    }
    page += pages;
  }
  object group = large(16 * page_bytes(), asked.standard, page_bytes());
  group.kind = NODEWISE_AGENT_GROUP;
  group.blocks = 8;
  group.first_block = first_block.data();
  const auto found = extents_of(group, page_bytes());
  EXPECT_EQ(found.size(), 2U);
  return found.empty() ? 0 : found[0].last_page;
}

TEST(AgentExtents, AGroupIsDividedByTheOrderOfItsBlocksAndByAMapOfItsPages) {
  const parsed blocked("v3;threshold=1;default=blocked;owners=0,1");
  EXPECT_EQ(second_half_of_a_group(blocked.read), 4U); // half of the blocks, a quarter of the pages
  const parsed map("v3;threshold=1;default=map@0*8,1*8");
  EXPECT_EQ(second_half_of_a_group(map.read), 8U);
}

TEST(AgentExtents, TheShortestBlockDecidesAboutHugePages) {
  const parsed blocks("v3;threshold=1;default=blocked;owners=0*3,1*1");
  EXPECT_EQ(shortest_block_bytes(large(4 << 20, blocks.read.standard, page_bytes())), 1U << 20);
  const parsed cyclic("v3;threshold=1;default=cyclic@65536@0*3,1*2");
  EXPECT_EQ(shortest_block_bytes(large(4 << 20, cyclic.read.standard, 65536)), 2U * 65536);
}

} // namespace
} // namespace nodewise::agent
