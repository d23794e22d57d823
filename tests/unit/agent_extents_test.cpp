// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The agent's extents are those of the library's distributions.
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <nodewise/distribution.hpp>

#include "agent/extents.hpp"
#include "agent/placement.hpp"
#include "agent/settings.hpp"

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
    settings asked{};
    const std::string text = "v2;threshold=1;default=blocked;owners=" + owners;
    ASSERT_EQ(parse(text.c_str(), asked), nullptr);
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

TEST(AgentExtents, GranulesAreTheLibrarysBlockCycles) {
  for (const std::string owners : owner_texts) {
    settings asked{};
    const std::string text = "v2;threshold=1;default=cyclic@65536@" + owners;
    ASSERT_EQ(parse(text.c_str(), asked), nullptr);
    const std::size_t granule = 65536;
    const block_cyclic library(nodes_of(asked.standard.owners), granule / page_bytes());
    for (std::size_t pages = 1; pages < 600; pages += 7) {
      const object what = large(pages * page_bytes(), asked.standard, granule);
      ASSERT_EQ(extents_of(what, page_bytes()), library.extents(pages))
          << owners << ", " << pages << " pages";
      extent_cursor all(what);
      std::size_t count = 0;
      for (extent each{}; all.next(each); ++count) {
      }
      EXPECT_LE(count, count_extents(what));
    }
  }
}

/// Blocks of different size belong to the owners by their number, not by their bytes.
TEST(AgentExtents, AGroupIsDividedByTheOrderOfItsBlocks) {
  settings asked{};
  ASSERT_EQ(parse("v2;threshold=1;default=blocked;owners=0,1", asked), nullptr);
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
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].last_page, 4U); // half of the blocks, a quarter of the pages
}

TEST(AgentExtents, TheShortestBlockDecidesAboutHugePages) {
  settings asked{};
  ASSERT_EQ(parse("v2;threshold=1;default=blocked;owners=0*3,1*1", asked), nullptr);
  EXPECT_EQ(shortest_block_bytes(large(4 << 20, asked.standard, page_bytes())), 1U << 20);
  settings cyclic{};
  ASSERT_EQ(parse("v2;threshold=1;default=cyclic@65536@0*3,1*2", cyclic), nullptr);
  EXPECT_EQ(shortest_block_bytes(large(4 << 20, cyclic.standard, 65536)), 2U * 65536);
}

} // namespace
} // namespace nodewise::agent
