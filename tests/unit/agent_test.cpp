// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The parts of the agent that can be looked at from inside; the rest is in tests/agent.
#include <atomic>
#include <cerrno>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/distribution.hpp>

#include "agent/object_table.hpp"
#include "agent/placement.hpp"
#include "agent/settings.hpp"

namespace nodewise::agent {
namespace {

settings parsed(const char* text) {
  settings read{};
  EXPECT_EQ(parse(text, read), nullptr) << text;
  return read;
}

TEST(AgentSettings, AreRead) {
  const settings read =
      parsed("v1;threshold=1048576;blocked=0*4,1*4,1,255*2;quiet;report=/tmp/a;b=c");
  EXPECT_EQ(read.threshold_bytes, 1048576U);
  EXPECT_EQ(read.slots, 11U);
  ASSERT_EQ(read.runs, 3U); // equal neighbours merged
  EXPECT_EQ(read.run[1].node, 1);
  EXPECT_EQ(read.run[1].first_slot, 4U);
  EXPECT_EQ(read.run[2].node, 255);
  EXPECT_EQ(read.run[2].first_slot, 9U);
  EXPECT_TRUE(read.quiet);
  EXPECT_STREQ(read.report, "/tmp/a;b=c");
  EXPECT_EQ(parsed("v1;threshold=1;observe").runs, 0U);
  EXPECT_TRUE(parsed("v1;threshold=1;observe;blocked=0*4,1*4").observe);
  EXPECT_EQ(parsed("v1;threshold=1;observe;blocked=0*4,1*4").runs, 2U);
}

TEST(AgentSettings, NonsenseIsRefused) {
  std::string too_many = "v1;threshold=1;blocked=0";
  for (int i = 1; i <= NODEWISE_AGENT_MAX_RUNS; ++i) {
    too_many += "," + std::to_string(i % 2);
  }
  for (const char* text : {"",
                           "v1",
                           "v2;threshold=1;blocked=0",
                           "v10;threshold=1;blocked=0",
                           "v1;threshold=1",
                           "v1;blocked=0",
                           "v1;threshold=0;blocked=0",
                           "v1;threshold=x;blocked=0",
                           "v1;threshold=1;blocked=",
                           "v1;threshold=1;blocked=1024",
                           "v1;threshold=1;blocked=-1",
                           "v1;threshold=1;blocked=0*0",
                           "v1;threshold=1;blocked=0*",
                           "v1;threshold=1;blocked=0,",
                           "v1;threshold=1;blocked=0*99999999",
                           "v1;threshold=1;blocked=0;colour=red",
                           "v1;threshold=1;blocked=0x",
                           "v1;;",
                           "v1threshold=1",
                           "v1;threshold=99999999999999999999;blocked=0",
                           too_many.c_str()}) {
    settings read{};
    EXPECT_NE(parse(text, read), nullptr) << text;
  }
}

/// The agent's edges are those of the library's distribution.
TEST(AgentPlacement, BlocksAreTheLibrarysBlocks) {
  for (const std::string owners : {"0", "0*4,1*4", "0,1,2,3", "3*2,1*5,0*1", "0*3,1,0*3"}) {
    const settings asked = parsed(("v1;threshold=1;blocked=" + owners).c_str());
    std::vector<node_id> nodes;
    for (std::size_t run = 0; run < asked.runs; ++run) {
      const std::size_t end = run + 1 < asked.runs ? asked.run[run + 1].first_slot : asked.slots;
      nodes.resize(end, node_id{asked.run[run].node});
    }
    const blocked library(nodes);
    for (const std::size_t granule : {page_bytes(), std::size_t{2} << 20}) {
      for (std::size_t pages = 1; pages < 200; ++pages) {
        std::vector<extent> found;
        std::size_t begin = 0;
        for (std::size_t run = 0; run < asked.runs; ++run) {
          const std::size_t end = end_of_run(asked, run, pages * granule, granule) / granule;
          nodewise::detail::append(found, {begin, end}, node_id{asked.run[run].node});
          begin = end;
        }
        ASSERT_EQ(found, library.extents(pages)) << owners << ", " << pages << " pages";
      }
    }
  }
}

TEST(AgentPlacement, MapsWithTheAlignmentAsked) {
  for (std::size_t alignment = 1; alignment <= std::size_t{1} << 30; alignment *= 2) {
    char* const start = map(3 * page_bytes() + 1, alignment);
    ASSERT_NE(start, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(start) % alignment, 0U);
    start[3 * page_bytes()] = 1;
    unmap(start, 4 * page_bytes());
  }
  EXPECT_EQ(map(PTRDIFF_MAX, 1), nullptr);
  EXPECT_EQ(map(1, std::size_t{1} << 63), nullptr);
}

TEST(AgentPlacement, FreeingLeavesErrnoAlone) {
  char* const start = map(page_bytes(), 1);
  errno = 42;
  unmap(start, page_bytes());
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
