// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <sys/mman.h>

#include "agent/alloc/arena.hpp"
#include "agent/page.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {
namespace {

class Arena : public testing::Test {
 protected:
  static constexpr std::size_t bytes = std::size_t{64} << 20;
  static constexpr std::size_t begin = (std::size_t{64} << 10) + 320; ///< in the second unit

  void SetUp() override {
    space_ = static_cast<char*>(sys::raw::map(bytes, PROT_NONE, MAP_NORESERVE));
    side_ = sys::raw::map(arena::side_bytes(bytes), PROT_READ | PROT_WRITE, 0);
    state_ = sys::raw::map(sizeof(arena), PROT_READ | PROT_WRITE, 0);
    ASSERT_NE(space_, nullptr);
    blocks().open(space_, bytes, side_, begin, {});
  }
  void TearDown() override {
    sys::raw::unmap(space_, bytes);
    sys::raw::unmap(side_, arena::side_bytes(bytes));
    sys::raw::unmap(state_, sizeof(arena));
  }
  arena& blocks() { return *static_cast<arena*>(state_); }
  std::size_t resident_pages() {
    std::vector<unsigned char> pages(bytes / page_bytes());
    EXPECT_EQ(::mincore(space_, bytes, pages.data()), 0);
    std::size_t count = 0;
    for (const unsigned char page : pages) {
      count += page & 1U;
    }
    return count;
  }

  char* space_ = nullptr;
  void* side_ = nullptr;
  void* state_ = nullptr;
};

// Three blocks of 8000 bytes, of which each takes 8016.
TEST_F(Arena, LeavesRoomForEarlierBlocks) {
  alignas(arena) unsigned char state[sizeof(arena)] = {};
  arena& late = reinterpret_cast<arena&>(state);
  late.open(space_, bytes, side_, begin, {std::size_t{3} * 8016, 3});
  char* const block = static_cast<char*>(late.allocate(8000));
  EXPECT_EQ(block, space_ + begin + std::size_t{3} * 8016 + arena::header_bytes);
  EXPECT_EQ(late.blocks(), 4U);
  EXPECT_EQ(late.own_blocks(), 1U);
  EXPECT_EQ(late.begin_bytes(), begin);
  EXPECT_EQ(late.first_block()[begin / page_bytes()], 0U);
  for (std::size_t page = begin / page_bytes() + 1; page * page_bytes() <= begin + 24048; ++page) {
    const std::size_t number = late.first_block()[page];
    EXPECT_GE(begin + number * 8016, page * page_bytes()) << page;
    EXPECT_LT(begin + (number - 1) * 8016, page * page_bytes()) << page;
  }
  EXPECT_TRUE(late.release(block));
  EXPECT_EQ(late.freed(), late.own_blocks());
}

TEST_F(Arena, LeavesNoRoomByWrongCounts) {
  for (const arena::room wrong : {arena::room{std::size_t{0} - 16, 3}, arena::room{8016, 0}}) {
    alignas(arena) unsigned char state[sizeof(arena)] = {};
    arena& late = reinterpret_cast<arena&>(state);
    late.open(space_, bytes, side_, begin, wrong);
    EXPECT_EQ(late.allocate(100), space_ + begin + arena::header_bytes);
    EXPECT_EQ(late.own_blocks(), 1U);
    EXPECT_EQ(late.blocks(), 1U);
  }
}

TEST_F(Arena, BlocksFollowEachOtherInOrderAndAreZero) {
  const char* last = space_ + begin - 528;
  for (std::size_t i = 0; i < 1000; ++i) {
    char* const block = static_cast<char*>(blocks().allocate(528));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0U);
    EXPECT_GE(arena::usable_bytes(block), 528U);
    for (std::size_t byte = 0; byte < 528; ++byte) {
      ASSERT_EQ(block[byte], 0);
    }
    std::memset(block, 'x', 528);
    EXPECT_EQ(block, last + 528 + arena::header_bytes);
    last = block;
  }
  EXPECT_EQ(blocks().blocks(), 1000U);
}

TEST_F(Arena, PagesKnowTheirFirstBlock) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < 2000; ++i) {
    const std::size_t size = 100 + i * 37 % 9000;
    begins.push_back(
        static_cast<std::size_t>(static_cast<char*>(blocks().allocate(size)) - space_) -
        arena::header_bytes);
  }
  EXPECT_EQ(begins.front(), begin);
  for (std::size_t page = 0; page * page_bytes() <= begins.back(); ++page) {
    const std::uint32_t block = blocks().first_block()[page];
    ASSERT_GE(begins[block], page * page_bytes());
    ASSERT_TRUE(block == 0 || begins[block - 1] < page * page_bytes());
  }
}

TEST_F(Arena, ABlockIsFreedOnce) {
  void* const block = blocks().allocate(300);
  EXPECT_TRUE(blocks().release(block));
  EXPECT_FALSE(blocks().release(block));
}

TEST_F(Arena, FreeMemoryGoesBackToTheKernelAndToNoOtherOwner) {
  std::vector<void*> all;
  for (int i = 0; i < 20000; ++i) {
    all.push_back(blocks().allocate(1000));
    std::memset(all.back(), 'x', 1000);
  }
  const std::size_t full = resident_pages();
  EXPECT_GE(full, 20000U * 1000 / page_bytes());
  for (std::size_t i = 0; i < all.size(); i += 2) {
    EXPECT_TRUE(blocks().release(all[i]));
  }
  for (std::size_t i = 1; i < all.size(); i += 2) {
    EXPECT_EQ(static_cast<char*>(all[i])[999], 'x');
    EXPECT_TRUE(blocks().release(all[i]));
  }
  EXPECT_LE(resident_pages() * page_bytes(), arena::unit_bytes);
}

TEST_F(Arena, ASiteThatFreesItsBlocksLosesItsArena) {
  std::size_t served = 0;
  for (int i = 0; i < 10000; ++i) {
    if (void* const block = blocks().allocate(400)) {
      ++served;
      EXPECT_TRUE(blocks().release(block));
    }
  }
  EXPECT_TRUE(blocks().closed());
  EXPECT_LE(served, 256U);
}

TEST_F(Arena, OfLargeBlocksItIsLostBeforeTheyTakeMuchMemory) {
  std::size_t made = 0;
  for (void* block = blocks().allocate(40000); block != nullptr; block = blocks().allocate(40000)) {
    EXPECT_TRUE(blocks().release(block));
    ASSERT_LT(++made, 16U);
  }
  EXPECT_TRUE(blocks().closed());
}

TEST_F(Arena, WhenItIsFullTheNextAllocatorServes) {
  std::size_t served = 0;
  while (blocks().allocate(1 << 20) != nullptr) {
    ++served;
  }
  EXPECT_EQ(served, (bytes - begin) / ((1 << 20) + arena::header_bytes));
  EXPECT_TRUE(blocks().closed());
  EXPECT_EQ(blocks().allocate(16), nullptr);
}

TEST_F(Arena, OtherThreadsMayFree) {
  std::vector<void*> all;
  for (int i = 0; i < 40000; ++i) {
    all.push_back(blocks().allocate(256));
  }
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      EXPECT_FALSE(blocks().is_mine());
      for (std::size_t i = t; i < all.size(); i += 4) {
        EXPECT_TRUE(blocks().release(all[i]));
      }
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  EXPECT_TRUE(blocks().is_mine());
  EXPECT_EQ(blocks().freed(), 40000U);
  EXPECT_LE(resident_pages() * page_bytes(), arena::unit_bytes);
}

} // namespace
} // namespace nodewise::agent
