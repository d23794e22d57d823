// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "agent/alloc/object_table.hpp"
#include "agent/alloc/range_index.hpp"

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

class many_ranges {
 public:
  /// Adds a range that begins at `begin`, or removes it if it is there.
  void toggle(std::uintptr_t begin, std::uint64_t sequence) {
    if (expected_.erase(begin) != 0) {
      index_->remove(begin);
    } else {
      index_->add(begin, begin + length, sequence);
      expected_[begin] = sequence;
    }
  }

  void check(std::uintptr_t address) const {
    place found{};
    ASSERT_TRUE(index_->find(address, found));
    const auto above = expected_.upper_bound(address);
    const auto below = above == expected_.begin() ? expected_.end() : std::prev(above);
    const bool is_range = below != expected_.end() && address < below->first + length;
    const std::uintptr_t gap = below == expected_.end() ? 0 : below->first + length;
    const std::uintptr_t next = above == expected_.end() ? UINTPTR_MAX : above->first;
    ASSERT_EQ(found.is_range, is_range);
    ASSERT_EQ(found.begin, is_range ? below->first : gap);
    ASSERT_EQ(found.end, is_range ? gap : next);
    ASSERT_TRUE(!is_range || found.sequence == below->second);
  }

  void check_overlap(std::uintptr_t begin, std::uintptr_t end) const {
    const auto above = expected_.lower_bound(end);
    const auto last = above == expected_.begin() ? expected_.end() : std::prev(above);
    const bool overlaps = last != expected_.end() && last->first + length > begin;
    ASSERT_EQ(index_->last_overlapping(begin, end), overlaps ? last->first : 0);
  }

  [[nodiscard]] std::size_t count() const { return expected_.size(); }

 private:
  static constexpr std::uintptr_t length = 60;
  std::unique_ptr<range_index> index_ = std::make_unique<range_index>();
  std::map<std::uintptr_t, std::uint64_t> expected_;
};

TEST(AgentRanges, AreAnOrderedMap) {
  many_ranges all;
  std::mt19937 random(1); // NOLINT(cert-msc32-c,cert-msc51-cpp): the same sequence every time
  const auto address = [&random] { return (1 + random() % 8192) * 100 + random() % 100; };
  for (std::uint64_t step = 0; step < 60000; ++step) {
    all.toggle((1 + random() % 8192) * 100, step);
    all.check(address());
    const std::uintptr_t begin = address();
    all.check_overlap(begin, begin + 1 + random() % 300);
  }
  EXPECT_GT(all.count(), 10 * range_index::chunk_ranges);
}

TEST(AgentRanges, GrowAndShrinkInAnyOrder) {
  constexpr std::uintptr_t count = 20 * range_index::chunk_ranges;
  many_ranges all;
  const auto begin_of = [](std::uintptr_t i) { return (i + 1) * 100; };
  for (std::uintptr_t i = 0; i < count; ++i) { // ascending
    all.toggle(begin_of(i), i);
  }
  for (std::uintptr_t i = 0; i < count; i += i % 100 == 98 ? 2U : 1U) { // all but one in a hundred
    all.toggle(begin_of(i), i);
  }
  for (std::uintptr_t i = 0; i < count; ++i) {
    all.check(begin_of(i));
  }
  EXPECT_EQ(all.count(), count / 100);
  for (std::uintptr_t i = count; i-- > 0;) { // descending
    all.toggle(begin_of(i), i);
    all.check(begin_of(i));
    all.check_overlap(begin_of(i) + 60, begin_of(i) + 260);
  }
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

TEST(AgentRanges, ObjectsAreChangedByTheirBytes) {
  const auto table = std::make_unique<object_table>();
  table->keep_ranges();
  const auto address = [](std::uintptr_t at) { return reinterpret_cast<char*>(at); };
  for (std::uintptr_t i = 1; i <= 5; ++i) {
    object made{};
    made.start = address(i * 0x10000);
    made.mapped_bytes = 0x4000;
    made.pid = 1;
    ASSERT_TRUE(table->insert(made));
  }
  const auto count = [](object& what, void* /*nothing*/) { ++what.blocks; };
  table->change_overlapping(address(0x23fff), address(0x40001), count, nullptr);
  table->change_overlapping(address(0x14000), address(0x20000), count, nullptr); // a gap
  const auto blocks = [&](std::uintptr_t at) {
    object found{};
    return table->find(address(at), found) ? found.blocks : 99;
  };
  const std::vector<std::uint64_t> found{blocks(0x10000), blocks(0x20000), blocks(0x30000),
                                         blocks(0x40000), blocks(0x50000)};
  EXPECT_EQ(found, (std::vector<std::uint64_t>{0, 1, 1, 1, 0}));
}

} // namespace
} // namespace nodewise::agent
