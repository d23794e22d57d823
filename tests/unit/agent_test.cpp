// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The parts of the agent that can be looked at from inside; the rest is in tests/agent.
#include <atomic>
#include <cerrno>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "agent/alloc/front.hpp"
#include "agent/alloc/object_table.hpp"
#include "agent/page.hpp"

namespace nodewise::agent {
namespace {

TEST(AgentPlacement, MapsWithTheAlignmentAsked) {
  for (std::size_t alignment = 1; alignment <= std::size_t{1} << 30; alignment *= 2) {
    char* const start = map_behind_page(3 * page_bytes() + 1, alignment);
    ASSERT_NE(start, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(start) % alignment, 0U);
    start[3 * page_bytes()] = 1;
    start[-static_cast<std::ptrdiff_t>(page_bytes())] = 1;
    unmap(start - page_bytes(), 5 * page_bytes());
  }
  EXPECT_EQ(map_behind_page(PTRDIFF_MAX, 1), nullptr);
  EXPECT_EQ(map_behind_page(1, std::size_t{1} << 63), nullptr);
}

TEST(AgentPlacement, FreeingLeavesErrnoAlone) {
  char* const start = map_behind_page(page_bytes(), 1);
  errno = 42;
  unmap(start - page_bytes(), 2 * page_bytes());
  EXPECT_EQ(errno, 42);
}

object at(std::uintptr_t address) {
  object made{};
  made.start = reinterpret_cast<char*>(address);
  made.bytes = address;
  return made;
}
const void* pointer(std::uintptr_t address) {
  return reinterpret_cast<const void*>(address);
}

TEST(AgentObjects, TheTableIsAMap) {
  object_table table;
  std::map<std::uintptr_t, bool> expected;
  std::mt19937 random(1); // NOLINT(cert-msc32-c,cert-msc51-cpp): the same sequence every time
  for (int step = 0; step < 200000; ++step) {
    const std::uintptr_t address = (1 + random() % 3000) * 4096;
    object found{};
    if (!expected[address]) {
      ASSERT_FALSE(table.contains(pointer(address)));
      ASSERT_FALSE(table.take(pointer(address), found));
      ASSERT_TRUE(table.insert(at(address)));
      expected[address] = true;
    } else if (random() % 2 == 0) {
      ASSERT_TRUE(table.take(pointer(address), found));
      ASSERT_EQ(found.bytes, address);
      expected[address] = false;
    } else {
      ASSERT_TRUE(table.contains(pointer(address)));
      ASSERT_TRUE(table.find(pointer(address), found));
      ASSERT_EQ(found.bytes, address);
    }
  }
  std::size_t live = 0;
  for (const auto& [address, is_there] : expected) {
    live += is_there ? 1 : 0;
  }
  const auto all = table.snapshot(true);
  EXPECT_EQ(all.count, live);
  object_table::release(all);
}

TEST(AgentObjects, MappingsAreFoundByAnyByte) {
  object_table table;
  for (const std::uintptr_t page : {10U, 20U, 30U}) {
    object made = at(page * 4096);
    made.mapped_bytes = 5 * std::size_t{4096};
    made.kind = page == 30 ? NODEWISE_AGENT_HEAP : NODEWISE_AGENT_MAP;
    ASSERT_TRUE(table.insert(made));
  }
  const auto take = [&](std::uintptr_t first, std::uintptr_t last) {
    object found{};
    return table.take_overlapping(static_cast<const char*>(pointer(first)),
                                  static_cast<const char*>(pointer(last)), found)
               ? found.bytes / 4096
               : 0;
  };
  EXPECT_EQ(take(15 * 4096, 20 * 4096), 0U);
  EXPECT_EQ(take(15 * 4096 - 1, 20 * 4096), 10U);
  EXPECT_EQ(take(15 * 4096 - 1, 20 * 4096 + 1), 20U);
  EXPECT_EQ(take(0, 100 * 4096), 0U); // what malloc gave is not the program's to unmap
}

TEST(AgentObjects, AnEmptyTableHoldsNothing) {
  object_table table;
  object found{};
  EXPECT_FALSE(table.contains(pointer(4096)));
  EXPECT_FALSE(table.find(pointer(4096), found));
  EXPECT_FALSE(table.take(pointer(4096), found));
  EXPECT_EQ(table.snapshot(true).count, 0U);
}

TEST(AgentObjects, ASignalHandlerDoesNotWaitForTheLock) {
  object_table table;
  ASSERT_TRUE(table.insert(at(4096)));
  table.lock();
  std::thread([&] { EXPECT_EQ(table.snapshot(false).count, 0U); }).join();
  table.unlock();
}

/// Readers without the lock find what is there and nothing else, whatever writers do around it.
TEST(AgentObjects, ReadersAreRightWhileOthersWrite) {
  object_table table;
  constexpr std::uintptr_t settled = std::uintptr_t{4096} * 1000000;
  for (std::uintptr_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(table.insert(at(settled + i * 4096)));
  }
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&] {
      while (!stop) {
        for (std::uintptr_t i = 0; i < 200; ++i) {
          wrong += table.contains(pointer(settled + i * 4096)) ? 0 : 1;
          wrong += table.contains(pointer(settled + (i + 500) * 4096)) ? 1 : 0;
        }
      }
    });
  }
  object found{};
  for (int round = 0; round < 30; ++round) {
    for (std::uintptr_t i = 1; i < 800; ++i) { // grows, and shifts what is in its way
      (void)table.insert(at(i * 4096 + static_cast<std::uintptr_t>(round) * (4096 << 12)));
    }
    for (std::uintptr_t i = 1; i < 800; ++i) {
      (void)table.take(pointer(i * 4096 + static_cast<std::uintptr_t>(round) * (4096 << 12)),
                       found);
    }
  }
  stop = true;
  for (std::thread& each : readers) {
    each.join();
  }
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace nodewise::agent
