// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "agent/object_table.hpp"
#include "agent/range_index.hpp"

namespace nodewise::agent {
namespace {

using place = range_index::place;

TEST(AgentRanges, AnAddressIsInARangeOrInAGap) {
  const auto index = std::make_unique<range_index>();
  place found{};
  ASSERT_TRUE(index->find(5, found));
  EXPECT_FALSE(found.is_range);
  EXPECT_EQ(found.begin, 0U);
  EXPECT_EQ(found.end, UINTPTR_MAX);
  EXPECT_FALSE(index->may_hold(350));
  index->add(300, 400, 7);
  EXPECT_TRUE(index->may_hold(300) && index->may_hold(399));
  EXPECT_FALSE(index->may_hold(299) || index->may_hold(400));
  index->add(100, 200, 8);
  ASSERT_TRUE(index->find(399, found));
  EXPECT_TRUE(found.is_range);
  EXPECT_EQ(found.sequence, 7U);
  EXPECT_EQ(found.begin, 300U);
  EXPECT_EQ(found.end, 400U);
  for (const std::uintptr_t address : {200U, 299U}) {
    ASSERT_TRUE(index->find(address, found));
    EXPECT_FALSE(found.is_range);
    EXPECT_EQ(found.begin, 200U);
    EXPECT_EQ(found.end, 300U);
  }
  const std::size_t version = found.version;
  EXPECT_EQ(version, index->version());
  index->remove(300);
  EXPECT_NE(version, index->version());
  ASSERT_TRUE(index->find(399, found));
  EXPECT_FALSE(found.is_range);
  index->remove(300); // not there any more
  ASSERT_TRUE(index->find(100, found));
  EXPECT_EQ(found.sequence, 8U);
  index->clear();
  ASSERT_TRUE(index->find(100, found));
  EXPECT_FALSE(found.is_range);
}

TEST(AgentRanges, AreAMapWithAnEnd) {
  const auto index = std::make_unique<range_index>();
  std::map<std::uintptr_t, std::uint64_t> expected;
  std::mt19937 random(1); // NOLINT(cert-msc32-c,cert-msc51-cpp): the same sequence every time
  for (std::uint64_t step = 0; step < 30000; ++step) {
    const std::uintptr_t begin = random() % 8192 * 100;
    if (expected.erase(begin) != 0) {
      index->remove(begin);
    } else if (expected.size() < range_index::most) {
      index->add(begin, begin + 60, step);
      expected[begin] = step;
    }
    place found{};
    const std::uintptr_t address = random() % 8192 * 100 + random() % 100;
    ASSERT_TRUE(index->find(address, found));
    const auto at = expected.find(address / 100 * 100);
    ASSERT_EQ(found.is_range, at != expected.end() && address % 100 < 60);
    ASSERT_TRUE(found.begin <= address && address < found.end);
    ASSERT_TRUE(!found.is_range || found.sequence == at->second);
  }
  for (std::uintptr_t i = 0; i < 2 * range_index::most; ++i) { // what is too many is left out
    index->add((1000000 + i) * 100, (1000000 + i) * 100 + 60, i);
  }
  place found{};
  ASSERT_TRUE(index->find((1000000 + 2 * range_index::most - 1) * 100, found));
  EXPECT_FALSE(found.is_range);
}

TEST(AgentRanges, ReadersAreRightWhileAnotherWrites) {
  const auto index = std::make_unique<range_index>();
  index->add(50000, 60000, 5);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (std::uintptr_t i = 0; i < 20000; ++i) {
      const std::uintptr_t begin = i % 2 == 0 ? 100 : 70000;
      index->add(begin, begin + 10, i);
      index->remove(begin);
    }
    done = true;
  });
  while (!done) {
    place found{};
    if (index->find(55555, found)) {
      ASSERT_TRUE(found.is_range && found.sequence == 5 && found.begin == 50000);
    }
  }
  writer.join();
}

TEST(AgentRanges, AreThoseOfTheTableWhoseProcessCounts) {
  const auto table = std::make_unique<object_table>();
  object made{};
  made.start = reinterpret_cast<char*>(0x10000);
  made.mapped_bytes = 0x4000;
  made.pid = 1;
  ASSERT_TRUE(table->insert(made)); // nobody asked for ranges
  place found{};
  EXPECT_TRUE(table->ranges().find(0x10005, found) && !found.is_range);
  table->keep_ranges();
  made.start += 0x10000;
  made.sequence = 3;
  ASSERT_TRUE(table->insert(made));
  EXPECT_TRUE(table->ranges().find(0x23fff, found) && found.is_range && found.sequence == 3);
  made.mapped_bytes = 0x2000;
  made.sequence = 4;
  ASSERT_TRUE(table->insert(made)); // in place of what was there
  EXPECT_TRUE(table->ranges().find(0x23fff, found) && !found.is_range);
  object taken{};
  ASSERT_TRUE(table->take(made.start, taken));
  EXPECT_TRUE(table->ranges().find(0x20000, found) && !found.is_range);
  made.pid = 0;
  ASSERT_TRUE(table->insert(made));
  EXPECT_TRUE(table->ranges().find(0x20000, found) && !found.is_range);
}

} // namespace
} // namespace nodewise::agent
