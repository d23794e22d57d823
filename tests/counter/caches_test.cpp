// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "counter/counted.hpp"

namespace nodewise::counter_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// cell CPU NODE PHASE FILLS WRITEBACKS DIRTY STREAMS

constexpr std::uint64_t nth(unsigned number) {
  return on_node0 + number * line;
}

std::string with(const char* caches) {
  return std::string(two_nodes) + caches;
}

COUNTER_TEST(Caches, FillEachLineOfAnArrayThatIsOnlyRead) {
  guest g(with(one_level));
  g.load_lines(0, on_node0, 16);
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 16 0 0 0"));
}

COUNTER_TEST(Caches, WriteBackEachLineThatWasStoredToOrHoldItInTheEnd) {
  guest g(with(one_level));
  g.store_lines(0, on_node0, 16);
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 16 12 0 0", "0 0 use 0 0 4 0"));
}

COUNTER_TEST(Caches, BookALineToTheNodeItsMemoryIsOn) {
  guest g(with(two_levels));
  g.store_lines(0, on_node1, 16);
  g.load_lines(3, on_node0, 16);
  EXPECT_THAT(g.records("cell"),
              ElementsAre("0 1 init 16 8 0 0", "0 1 use 0 0 8 0", "3 0 init 16 0 0 0"));
}

COUNTER_TEST(Caches, GiveUpTheLineThatWasUsedLongestAgo) {
  guest g(with(one_level));
  for (const unsigned each : {0U, 2U, 0U, 4U, 0U, 2U}) { // 4 drives 2 out, not 0
    g.load(0, nth(each));
  }
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 3 0 0 0", "0 0 use 1 0 0 0"));
}

COUNTER_TEST(Caches, KeepInAnOuterLevelWhatWasUsedFromThereLately) {
  guest g(with(two_levels));
  // 0, 4 and 8 share a set of the second level; 2 and 6 only drive them out of the first.
  for (const unsigned each : {0U, 4U, 2U, 6U, 0U, 8U, 0U, 4U}) {
    g.load(0, nth(each));
  }
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 5 0 0 0", "0 0 use 1 0 0 0"));
}

COUNTER_TEST(Caches, HaveSetsThatConflict) {
  guest g(with(one_level));
  for (unsigned round = 0; round < 3; ++round) {
    for (const unsigned each : {0U, 2U, 4U}) {
      g.load(0, nth(each));
    }
  }
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 3 0 0 0", "0 0 use 6 0 0 0"));
}

COUNTER_TEST(Caches, HoldLinesOfDifferentSetsTogether) {
  guest g(with(one_level));
  for (unsigned round = 0; round < 3; ++round) {
    g.load_lines(0, on_node0, 4);
  }
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 4 0 0 0"));
}

COUNTER_TEST(Caches, MayHaveThreeSets) {
  guest g(with("cache 1 data 384 2 core\n"));
  for (unsigned round = 0; round < 2; ++round) {
    g.load_lines(0, on_node0, 6);
  }
  for (unsigned round = 0; round < 2; ++round) {
    for (const unsigned each : {64U, 67U, 70U}) {
      g.load(1, nth(each));
    }
  }
  EXPECT_THAT(g.records("cell"),
              ElementsAre("0 0 init 6 0 0 0", "1 0 init 3 0 0 0", "1 0 use 3 0 0 0"));
}

COUNTER_TEST(Caches, OfManyWaysFindALineInEachOfThem) {
  guest g(with("cache 1 data 704 11 core\n"));
  for (unsigned round = 0; round < 3; ++round) {
    g.store_lines(0, on_node0, 11);
  }
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 11 0 0 0", "0 0 use 0 0 11 0"));
}

COUNTER_TEST(Caches, GiveUpInsideWhatTheyGiveUpOutsideModifiedOrNot) {
  guest g(with(two_levels));
  g.store(0, nth(0));
  g.load(0, nth(4));
  g.load(0, nth(0)); // first in the first level, last in the second
  g.load(0, nth(8));
  g.load(0, nth(0));
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 3 1 0 0", "0 0 use 1 0 0 0"));
}

COUNTER_TEST(Caches, HandModifiedVictimsToTheCacheOfTheNode) {
  guest g(with(shared_second_level));
  g.store(1, nth(0));
  g.load(1, nth(2));
  g.load(1, nth(6)); // drives 0 out
  g.load(1, nth(0));
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 use 0 0 1 0", "1 0 init 3 0 0 0"));
}

COUNTER_TEST(Caches, OfANodeTakeTheirVictimsFromAllItsCores) {
  guest g(with(shared_second_level));
  g.store(0, nth(0));
  g.load(1, nth(4));
  g.load(1, nth(8)); // drives 0 out of the node's cache, and so out of core 0
  g.load(0, nth(0));
  EXPECT_THAT(g.records("cell"),
              ElementsAre("0 0 init 1 0 0 0", "0 0 use 1 0 0 0", "1 0 use 2 1 0 0"));
}

COUNTER_TEST(Caches, OfANodeServeItsOtherCores) {
  guest g(with(shared_second_level));
  g.load(0, nth(0));
  g.load(1, nth(0));
  g.load(2, nth(0));
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 1 0 0 0", "2 0 use 1 0 0 0"));
}

COUNTER_TEST(Caches, CountAModifiedLineOnceHoweverManyLevelsHaveIt) {
  guest g(
      with("cache 1 data 256 2 core\ncache 2 unified 512 2 core\ncache 3 unified 1024 2 node\n"));
  for (unsigned round = 0; round < 2; ++round) { // modified in every level
    g.store_lines(0, on_node0, 8);
  }
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 8 0 0 0", "0 0 use 0 0 8 0"));
}

} // namespace
} // namespace nodewise::counter_test
