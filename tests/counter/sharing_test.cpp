// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "counter/counted.hpp"

namespace nodewise::counter_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// transfers CPU LOCAL REMOTE INVALIDATIONS
// What the second thread makes the first one write back was still written in initialisation.
// shared PID ADDRESS ID TRANSFERS INVALIDATIONS WRITERS READERS OVERLAP

const std::string apart = std::string(two_nodes) + one_level;
const std::string together = std::string(two_nodes) + shared_second_level;

COUNTER_TEST(Sharing, ReadsAModifiedLineFromTheCoreNextToItAndMemoryGetsItToo) {
  guest g(apart);
  g.store(0, on_node0);
  g.load(1, on_node0);
  EXPECT_THAT(g.records("transfers"), ElementsAre("1 1 0 0"));
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 1 0 0 0", "1 0 init 0 1 0 0"));
}

COUNTER_TEST(Sharing, ReadsAModifiedLineFromAnotherNode) {
  guest g(apart);
  g.store(0, on_node0);
  g.load(2, on_node0);
  EXPECT_THAT(g.records("transfers"), ElementsAre("2 0 1 0"));
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 1 0 0 0", "2 0 init 0 1 0 0"));
}

COUNTER_TEST(Sharing, LeavesAModifiedLineInTheCacheOfItsNode) {
  guest g(together);
  g.store(0, on_node0);
  g.load(1, on_node0);
  EXPECT_THAT(g.records("transfers"), ElementsAre("1 1 0 0"));
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 1 0 0 0", "0 0 use 0 0 1 0"));
}

COUNTER_TEST(Sharing, WritesAModifiedLineBackThatAnotherNodeReads) {
  guest g(together);
  g.store(0, on_node0);
  g.load(2, on_node0);
  g.load(3, on_node0); // has it from its own node
  EXPECT_THAT(g.records("transfers"), ElementsAre("2 0 1 0"));
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 1 0 0 0", "2 0 init 0 1 0 0"));
}

COUNTER_TEST(Sharing, FindsAModifiedLineInTheCacheOfAnotherNode) {
  guest g(together);
  g.store(0, on_node0);
  g.load(0, on_node0 + 2 * line);
  g.load(0, on_node0 + 6 * line); // the first line is now in the node's cache alone
  g.load(2, on_node0);
  EXPECT_THAT(g.records("transfers"), ElementsAre("2 0 1 0"));
}

COUNTER_TEST(Sharing, FillsAnUnmodifiedLineFromMemory) {
  guest g(apart);
  g.load(0, on_node0);
  g.load(1, on_node0);
  EXPECT_THAT(g.records("transfers"), IsEmpty());
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 1 0 0 0", "1 0 use 1 0 0 0"));
}

COUNTER_TEST(Sharing, InvalidatesTheCopiesOfOthersOnAStore) {
  guest g(apart);
  for (const unsigned cpu : {0U, 1U, 2U, 3U}) {
    g.load(cpu, on_node0);
  }
  g.store(0, on_node0);
  g.store(0, on_node0); // owns it now
  g.load(1, on_node0);
  EXPECT_THAT(g.records("transfers"), ElementsAre("0 0 0 3", "1 1 0 0"));
}

COUNTER_TEST(Sharing, TakesAModifiedLineOverModified) {
  guest g(together);
  g.store(0, on_node0);
  g.store(2, on_node0);
  EXPECT_THAT(g.records("transfers"), ElementsAre("2 0 1 1"));
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 1 0 0 0", "2 0 use 0 0 1 0"));
}

COUNTER_TEST(Sharing, LetsTheOwnerWriteAgainOnlyAfterItTookTheLineBack) {
  guest g(apart);
  g.store(0, on_node0);
  g.load(1, on_node0);
  g.store(0, on_node0);
  EXPECT_THAT(g.records("transfers"), ElementsAre("0 0 0 1", "1 1 0 0"));
  EXPECT_THAT(g.records("cell"),
              ElementsAre("0 0 init 1 0 0 0", "0 0 use 0 0 1 0", "1 0 init 0 1 0 0"));
}

COUNTER_TEST(Sharing, OfACoreIsNoTransferBetweenItsHardwareThreads) {
  guest g("parallel 0\nlow_memory 2952790016\nprocessor 0 0 0\nprocessor 1 0 0\n"
          "processor 2 1 1\nprocessor 3 1 1\nmemory 0 16777216\nmemory 1 16777216\n" +
          std::string(one_level));
  for (unsigned round = 0; round < 3; ++round) {
    g.store(0, on_node0);
    g.store(1, on_node0);
  }
  EXPECT_THAT(g.records("transfers"), IsEmpty());
  EXPECT_THAT(g.records("shared"), IsEmpty());
}

COUNTER_TEST(Sharing, IsFalseIfTheBytesAreOthers) {
  guest g(apart);
  for (unsigned round = 0; round < 3; ++round) {
    g.store(0, on_node0 + 48);
    g.store(1, on_node0 + 56);
  }
  EXPECT_THAT(g.records("shared"), ElementsAre("0 0x100000 - 5 5 0-1 - 0 0 0x401000"));
}

COUNTER_TEST(Sharing, IsTrueIfTheBytesAreTheSame) {
  guest g(apart);
  for (unsigned round = 0; round < 3; ++round) {
    g.store(0, on_node0 + 48, 16);
    g.store(3, on_node0 + 56);
  }
  EXPECT_THAT(g.records("shared"), ElementsAre("0 0x100000 - 5 5 0,3 - 1 0 0x401000"));
}

COUNTER_TEST(Sharing, NamesThoseWhoOnlyRead) {
  guest g(apart);
  for (unsigned round = 0; round < 3; ++round) {
    g.store(0, on_node0);
    g.load(1, on_node0);
    g.load(2, on_node0 + 8);
  }
  // Each round: one transfer to processor 1, a fill for processor 2; then two copies invalidated.
  EXPECT_THAT(g.records("transfers"), ElementsAre("0 0 0 4", "1 3 0 0"));
  EXPECT_THAT(g.records("shared"), ElementsAre("0 0x100000 - 3 4 0 1 0 0 0x401000"));
}

COUNTER_TEST(Sharing, OfAResultThatIsHandedOverOnceIsNoFinding) {
  guest g(apart);
  g.store(0, on_node0);
  g.load(1, on_node0);
  EXPECT_THAT(g.records("shared"), IsEmpty());
}

// An emulated processor has a line for all of its turn. The stores are looked at as soon as two
// processors have taken the line, so not the first turn of each.
void count_in_turn(guest& g, unsigned rounds, unsigned often_by_0, unsigned often_by_1) {
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned i = 0; i < often_by_0; ++i) {
      g.store(0, on_node0 + 48, 8, 0x402000);
    }
    for (unsigned i = 0; i < often_by_1; ++i) {
      g.store(1, on_node0 + 56);
    }
  }
}

COUNTER_TEST(Sharing, CountsStoresThatOthersMayComeBetween) {
  guest g(apart);
  count_in_turn(g, 2, 100, 100);
  EXPECT_THAT(g.records("shared"), ElementsAre("0 0x100000 - 3 3 0-1 - 0 198 0x401000"));
}

COUNTER_TEST(Sharing, NamesTheInstructionThatStoresMost) {
  guest g(apart);
  count_in_turn(g, 3, 100, 60);
  EXPECT_THAT(g.records("shared"), ElementsAre("0 0x100000 - 5 5 0-1 - 0 236 0x402000"));
}

COUNTER_TEST(Sharing, OfALineThatOneHardlyWritesIsHardlyInTurn) {
  guest g(apart);
  count_in_turn(g, 3, 2, 100);
  EXPECT_THAT(g.records("shared"), ElementsAre("0 0x100000 - 5 5 0-1 - 0 4 0x401000"));
}

COUNTER_TEST(Sharing, OfALineThatIsWalkedOverIsCountedAsItIs) {
  guest g(apart);
  for (unsigned round = 0; round < 3; ++round) {
    for (const unsigned byte : {0U, 8U, 16U, 24U}) {
      g.store(0, on_node0 + byte);
    }
    for (const unsigned byte : {32U, 40U, 48U, 56U}) {
      g.store(1, on_node0 + byte);
    }
  }
  EXPECT_THAT(g.records("shared"), ElementsAre("0 0x100000 - 5 5 0-1 - 0 0 0x401000"));
}

COUNTER_TEST(Sharing, OfOtherMemoryInTheSamePlaceIsNotThatOfBefore) {
  guest g(apart);
  count_in_turn(g, 2, 100, 100);
  g.say(0, "x100 a"); // another program, whose page is in the same place
  for (unsigned i = 0; i < 100; ++i) {
    g.store(0, on_node0 + 48); // the first takes the line from processor 1: its own affair
  }
  EXPECT_THAT(g.records("shared"), ElementsAre("0 0x100000 - 3 3 0-1 - 0 198 0x401000"));
}

COUNTER_TEST(Sharing, TellsTheWorstLineFirst) {
  guest g(apart);
  for (unsigned round = 0; round < 4; ++round) {
    for (const unsigned cpu : {0U, 1U}) {
      g.store(cpu, on_node0 + (round < 2 ? 0 : line));
      g.store(cpu, on_node0 + line);
    }
  }
  EXPECT_THAT(g.records("shared"), ElementsAre("0 0x100040 - 7 7 0-1 - 1 0 0x401000",
                                               "0 0x100000 - 3 3 0-1 - 1 0 0x401000"));
}

} // namespace
} // namespace nodewise::counter_test
