// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "agent/alloc/front.hpp"
#include "agent/alloc/kept.hpp"
#include "agent/page.hpp"

namespace nodewise::agent {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr placement blocked{placement_kind::blocked, 0, {}};
constexpr placement local{placement_kind::local, 0, {}};

/// What the agent asks memory for, or enters when that is there.
object wanted(std::size_t bytes, const placement& where = blocked) {
  object made{};
  made.kind = NODEWISE_AGENT_HEAP;
  made.bytes = bytes;
  made.placed_bytes = made.mapped_bytes = round_up(bytes, page_bytes());
  made.where = &where;
  return made;
}

/// An object as it is when the program frees it, in memory that nobody has placed.
object freed(std::size_t bytes, const placement& where = blocked, std::size_t alignment = 1) {
  object made = wanted(bytes, where);
  made.flags = NODEWISE_AGENT_PLACED;
  made.start = map_behind_page(made.mapped_bytes, alignment);
  EXPECT_NE(made.start, nullptr);
  made.front_bytes = page_bytes();
  write_front(made);
  return made;
}

void unmap_all(const object& what) {
  unmap(mapping_of(what), mapping_bytes(what));
}

class AgentKept : public testing::Test {
 protected:
  void keep(const object& what) {
    ASSERT_TRUE(kept_blocks::can_be_kept(what));
    ASSERT_TRUE(blocks_->keep(what));
  }
  /// Where an object of this length goes; nullptr if no block is kept for it. It is lent then.
  char* lend(object what, std::size_t alignment = 1) {
    const kept_blocks::slot from = blocks_->take(what, alignment);
    if (from == kept_blocks::none) {
      return nullptr;
    }
    blocks_->lend(from, what);
    return what.start;
  }
  bool free(char* start) {
    const kept_blocks::slot claimed = blocks_->claim(start);
    if (claimed != kept_blocks::none) {
      blocks_->put_back(claimed);
    }
    return claimed != kept_blocks::none;
  }

  void TearDown() override {
    std::vector<char*> lent;
    blocks_->for_each_lent([&](const object& each) { lent.push_back(each.start); });
    for (char* const each : lent) {
      EXPECT_TRUE(free(each));
    }
    (void)blocks_->give_back_all(kept_blocks::shortage::memory);
    EXPECT_EQ(blocks_->bytes(), 0U);
  }

  std::unique_ptr<kept_blocks> blocks_ = std::make_unique<kept_blocks>();
};

TEST_F(AgentKept, ABlockIsForTheSameLengthAndPlacementOnly) {
  EXPECT_EQ(lend(wanted(mib)), nullptr);
  const object block = freed(mib);
  keep(block);
  EXPECT_EQ(blocks_->bytes(), mib);
  const placement another = blocked;
  object unasked = wanted(mib);
  unasked.flags = NODEWISE_AGENT_UNASKED;
  EXPECT_EQ(lend(wanted(mib + 1)), nullptr);
  EXPECT_EQ(lend(wanted(mib, another)), nullptr);
  EXPECT_EQ(lend(unasked), nullptr);
  EXPECT_FALSE(blocks_->is_lent(block.start));
  EXPECT_EQ(lend(wanted(mib - 100)), block.start); // of as many pages
  EXPECT_EQ(lend(wanted(mib)), nullptr);
}

TEST_F(AgentKept, ALentBlockIsFoundUntilItIsFreedOnce) {
  const object block = freed(mib);
  keep(block);
  object made = wanted(mib - 5);
  made.sequence = 17;
  ASSERT_EQ(lend(made), block.start);
  EXPECT_TRUE(blocks_->is_lent(block.start));
  object found{};
  ASSERT_TRUE(blocks_->find(block.start, found));
  EXPECT_EQ(found.sequence, 17U);
  EXPECT_EQ(found.bytes, mib - 5);
  EXPECT_EQ(found.flags, NODEWISE_AGENT_PLACED);
  EXPECT_FALSE(blocks_->is_lent(block.start + page_bytes()));
  EXPECT_TRUE(free(block.start));
  EXPECT_FALSE(blocks_->is_lent(block.start));
  EXPECT_FALSE(free(block.start));
}

TEST_F(AgentKept, OnlyALentBlockLooksLikeAChunkOfTheCLibrary) {
  const object block = freed(mib);
  keep(block);
  EXPECT_FALSE(has_its_front(block));
  ASSERT_EQ(lend(wanted(mib)), block.start);
  EXPECT_TRUE(has_its_front(block));
}

TEST_F(AgentKept, AnAlignmentIsKept) {
  const object block = freed(mib);
  keep(block);
  const std::size_t odd = reinterpret_cast<std::uintptr_t>(block.start);
  const std::size_t its_alignment = odd & (~odd + 1);
  EXPECT_EQ(lend(wanted(mib), its_alignment * 2), nullptr);
  EXPECT_EQ(lend(wanted(mib), its_alignment), block.start);
}

TEST_F(AgentKept, OfManyBlocksEachIsLentOnce) {
  std::map<char*, int> lent;
  for (int i = 0; i < 40; ++i) {
    keep(freed(mib));
  }
  for (int i = 0; i < 40; ++i) {
    char* const start = lend(wanted(mib));
    ASSERT_NE(start, nullptr);
    EXPECT_EQ(lent[start]++, 0);
  }
  EXPECT_EQ(lend(wanted(mib)), nullptr);
}

TEST_F(AgentKept, TheOldestGoWhenTheyAreTooMuch) {
  constexpr std::size_t bytes = 8 * mib;
  constexpr std::size_t most = kept_blocks::most_bytes / bytes;
  std::vector<char*> starts;
  for (std::size_t i = 0; i < most + 3; ++i) {
    const object block = freed(bytes);
    starts.push_back(block.start);
    keep(block);
    EXPECT_LE(blocks_->bytes(), kept_blocks::most_bytes);
  }
  std::map<char*, bool> found;
  for (std::size_t i = 0; i < most; ++i) {
    found[lend(wanted(bytes))] = true;
  }
  EXPECT_EQ(lend(wanted(bytes)), nullptr);
  for (std::size_t i = 3; i < starts.size(); ++i) {
    EXPECT_TRUE(found[starts[i]]) << i;
  }
}

TEST_F(AgentKept, WhatNobodyAsksForGoesAsNewOnesCome) {
  keep(freed(2 * mib));
  for (std::uint64_t i = 0; i < kept_blocks::longest_kept + 2 * kept_blocks::ways; ++i) {
    keep(freed(page_bytes()));
  }
  EXPECT_EQ(lend(wanted(2 * mib)), nullptr);
  EXPECT_NE(lend(wanted(page_bytes())), nullptr);
}

TEST_F(AgentKept, LentBlocksLeaveNoRoomForMore) {
  constexpr std::size_t bytes = 16 * mib;
  for (std::size_t i = 0; i < kept_blocks::most_bytes / bytes; ++i) {
    keep(freed(bytes));
    ASSERT_NE(lend(wanted(bytes)), nullptr);
  }
  const object block = freed(bytes);
  EXPECT_FALSE(blocks_->keep(block));
  unmap_all(block);
}

TEST_F(AgentKept, WithoutPoliciesABlockIsForObjectsWithoutThem) {
  object block = freed(mib);
  block.flags = NODEWISE_AGENT_MAP_LIMIT;
  keep(block);
  EXPECT_FALSE(blocks_->give_back_all(kept_blocks::shortage::policies));
  EXPECT_EQ(lend(wanted(mib)), nullptr);
  object limited = wanted(mib);
  limited.flags = NODEWISE_AGENT_MAP_LIMIT;
  EXPECT_EQ(lend(limited), block.start);
}

TEST_F(AgentKept, BlocksThatFindNoSlotStayTheCallers) {
  std::vector<object> refused; // mapped to the end: each block has another address
  for (std::size_t i = 0; i < 2 * kept_blocks::none; ++i) {
    const object block = freed(page_bytes());
    if (blocks_->keep(block)) {
      ASSERT_NE(lend(wanted(page_bytes())), nullptr);
    } else {
      refused.push_back(block);
    }
  }
  EXPECT_GE(refused.size(), kept_blocks::none); // at most as many are lent as there are slots
  EXPECT_LT(refused.size(), 2 * kept_blocks::none - kept_blocks::none / 2);
  for (const object& each : refused) {
    unmap_all(each);
  }
}

TEST_F(AgentKept, WhatIsNotPlacedAsAskedIsNotKept) {
  object block = wanted(mib);
  block.front_bytes = page_bytes();
  EXPECT_FALSE(kept_blocks::can_be_kept(block));
  block.flags = NODEWISE_AGENT_PLACED;
  EXPECT_TRUE(kept_blocks::can_be_kept(block));
  for (const unsigned flag : {NODEWISE_AGENT_COARSER, NODEWISE_AGENT_INTERLEAVED,
                              NODEWISE_AGENT_RESIZED, NODEWISE_AGENT_PARTLY_GONE}) {
    object other = block;
    other.flags |= flag;
    EXPECT_FALSE(kept_blocks::can_be_kept(other)) << flag;
  }
  object by_touch = block;
  by_touch.where = &local;
  EXPECT_FALSE(kept_blocks::can_be_kept(by_touch));
  by_touch.flags = NODEWISE_AGENT_UNASKED;
  EXPECT_TRUE(kept_blocks::can_be_kept(by_touch));
  object large = block;
  large.mapped_bytes = large.placed_bytes = kept_blocks::largest_block_bytes + page_bytes();
  EXPECT_FALSE(kept_blocks::can_be_kept(large));
  object borrowed = block;
  borrowed.block = reinterpret_cast<char*>(8);
  EXPECT_FALSE(kept_blocks::can_be_kept(borrowed));
}

TEST_F(AgentKept, ThreadsNeverHaveTheSameBlock) {
  constexpr int threads = 4;
  constexpr std::size_t most_pages = 4;
  std::atomic<std::uint64_t> mapped{0};
  const auto work = [&](unsigned char mark) {
    std::mt19937 random(mark); // NOLINT(cert-msc32-c,cert-msc51-cpp): the same sequence every time
    for (int i = 0; i < 4000; ++i) {
      const std::size_t bytes = (1 + random() % most_pages) * page_bytes();
      char* start = lend(wanted(bytes));
      if (start == nullptr) {
        ++mapped;
        const object block = freed(bytes);
        if (!blocks_->keep(block)) {
          unmap_all(block);
        }
        continue;
      }
      std::memset(start, mark, bytes);
      std::this_thread::yield();
      for (std::size_t at = 0; at < bytes; at += 512) {
        ASSERT_EQ(start[at], mark);
      }
      ASSERT_TRUE(free(start));
    }
  };
  std::vector<std::thread> all;
  for (unsigned char i = 1; i <= threads; ++i) {
    all.emplace_back(work, i);
  }
  for (std::thread& each : all) {
    each.join();
  }
  EXPECT_GT(mapped, 0U);
}

} // namespace
} // namespace nodewise::agent
