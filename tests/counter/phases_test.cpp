// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "counter/counted.hpp"

namespace nodewise::counter_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// cell CPU NODE PHASE FILLS WRITEBACKS DIRTY STREAMS

const std::string machine = std::string(two_nodes) + one_level;
constexpr unsigned lines_a_page = page / line;

COUNTER_TEST(Phases, AreInitialisationUntilASecondThreadUsesThePage) {
  guest g(machine);
  g.load_lines(0, on_node0, lines_a_page);
  g.load_lines(1, on_node0, lines_a_page);
  g.load_lines(0, on_node0, lines_a_page);
  EXPECT_THAT(g.records("cell"),
              ElementsAre("0 0 init 64 0 0 0", "0 0 use 64 0 0 0", "1 0 use 64 0 0 0"));
}

COUNTER_TEST(Phases, OfAThreadAloneAreInitialisationOnceALine) {
  guest g(machine);
  for (unsigned round = 0; round < 3; ++round) {
    g.load_lines(0, on_node0, lines_a_page);
  }
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 64 0 0 0", "0 0 use 128 0 0 0"));
}

COUNTER_TEST(Phases, OfAThreadThatPreparesInSeveralSweepsAreInitialisationForTheOthers) {
  guest g(machine);
  g.load_lines(0, on_node0, lines_a_page);
  g.load_lines(0, on_node0, lines_a_page);
  g.load_lines(1, on_node0, lines_a_page);
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 128 0 0 0", "1 0 use 64 0 0 0"));
}

/// A main thread, on processor 0, and two that it has started, on 1 and 2.
struct team : guest {
  team() : guest(machine) {
    say(0, "x100 prog");
    say(1, "t100");
    say(2, "t100");
  }
};

// As STREAM is: each thread initialises its part and sweeps it, and one thread checks all of it
// last.
COUNTER_TEST(Phases, OfPartsThatOneThreadChecksLastAreUseFromTheSecondSweepOn) {
  team g;
  for (unsigned sweep = 0; sweep < 4; ++sweep) {
    g.load_lines(1, on_node0, lines_a_page);
    g.load_lines(2, on_node1, lines_a_page);
  }
  g.load_lines(0, on_node0, lines_a_page);
  g.load_lines(0, on_node1, lines_a_page);
  EXPECT_THAT(g.records("cell"),
              UnorderedElementsAre("1 0 init 64 0 0 0", "1 0 use 192 0 0 0", "2 1 init 64 0 0 0",
                                   "2 1 use 192 0 0 0", "0 0 use 64 0 0 0", "0 1 use 64 0 0 0"));
}

COUNTER_TEST(Phases, OfPartsThatAreCheckedInBetweenAreUseFromThereOn) {
  team g;
  g.load_lines(1, on_node0, lines_a_page);
  g.load_lines(0, on_node0, lines_a_page);
  g.load_lines(1, on_node0, lines_a_page);
  EXPECT_THAT(g.records("cell"),
              UnorderedElementsAre("1 0 init 64 0 0 0", "0 0 use 64 0 0 0", "1 0 use 64 0 0 0"));
}

COUNTER_TEST(Phases, OfAThreadThatWasStartedAreUseThoughTheOthersWereStill) {
  team g;
  g.load_lines(1, on_node0, lines_a_page);
  g.load_lines(1, on_node0, lines_a_page);
  g.load_lines(0, on_node0, lines_a_page);
  EXPECT_THAT(g.records("cell"),
              UnorderedElementsAre("1 0 init 64 0 0 0", "1 0 use 64 0 0 0", "0 0 use 64 0 0 0"));
}

// The main thread fills all, in two sweeps, and works on a part itself.
COUNTER_TEST(Phases, OfTheMainThreadsOwnPartAreUseOnceOthersWork) {
  team g;
  for (unsigned sweep = 0; sweep < 2; ++sweep) {
    g.load_lines(0, on_node0, 2 * lines_a_page);
  }
  for (unsigned sweep = 0; sweep < 2; ++sweep) {
    g.load_lines(1, on_node0 + page, lines_a_page);
    g.load_lines(0, on_node0, lines_a_page);
  }
  EXPECT_THAT(g.records("cell"),
              UnorderedElementsAre("0 0 init 256 0 0 0", "0 0 use 128 0 0 0", "1 0 use 128 0 0 0"));
}

COUNTER_TEST(Phases, DoNotEndBecauseAnotherThreadLookedAtALine) {
  team g;
  g.load_lines(0, on_node0, lines_a_page);
  g.load_lines(1, on_node1, lines_a_page - 1);
  g.load_lines(0, on_node0, lines_a_page);
  g.load_lines(2, on_node0, lines_a_page);
  EXPECT_THAT(g.records("cell"),
              UnorderedElementsAre("0 0 init 128 0 0 0", "1 1 init 63 0 0 0", "2 0 use 64 0 0 0"));
}

COUNTER_TEST(Phases, FollowTheThreadNotTheProcessor) {
  guest g(machine);
  g.load_lines(0, on_node0, lines_a_page);
  g.run(2, 0);
  g.load_lines(2, on_node0, lines_a_page);
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 64 0 0 0", "2 0 use 64 0 0 0"));
}

COUNTER_TEST(Phases, OfWriteBacksGoByTheLineToo) {
  guest g(machine);
  g.store_lines(0, on_node0, lines_a_page);
  g.store_lines(0, on_node0, lines_a_page);
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 64 64 0 0", "0 0 use 64 60 4 0"));
}

COUNTER_TEST(Phases, BeginTheirSecondWhereTheProgramSaysSo) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.load_lines(0, on_node0, lines_a_page);
  g.load_lines(0, on_node0, lines_a_page);
  g.say(0, "u");
  g.load_lines(0, on_node0, lines_a_page);
  g.load_lines(0, on_node0 + page, lines_a_page); // never initialised
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 128 0 0 0", "0 0 use 128 0 0 0"));
}

COUNTER_TEST(Phases, BeforeTheMarkAreInitialisationForPagesThatAreNotUsedAgain) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.load_lines(0, on_node0, lines_a_page);
  g.load_lines(0, on_node0, lines_a_page);
  g.say(0, "u");
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 128 0 0 0"));
}

COUNTER_TEST(Phases, BeforeTheMarkAreInitialisationHoweverManyThreads) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(1, "t100");
  g.say(0, "oa 100000 1000 heap prog 0x12 -");
  g.load_lines(0, on_node0, lines_a_page);
  g.load_lines(1, on_node0, lines_a_page);
  g.load_lines(2, on_node1, lines_a_page); // another program's
  g.load_lines(3, on_node1, lines_a_page);
  g.say(0, "da");
  g.load_lines(0, on_node0, lines_a_page);
  g.load_lines(1, on_node0, lines_a_page);
  g.say(0, "u");
  g.load_lines(1, on_node0, lines_a_page);
  EXPECT_THAT(g.records("cell"),
              ElementsAre("0 0 init 128 0 0 0", "1 0 init 128 0 0 0", "1 0 use 64 0 0 0",
                          "2 1 init 64 0 0 0", "3 1 use 64 0 0 0"));
  EXPECT_THAT(g.records("traffic"),
              UnorderedElementsAre("0 - init 1 1 64 0 0", "0 - use 1 1 64 0 0",
                                   "100 - init 0 0 128 0 0", "100 - use 0 0 64 0 0",
                                   "100 10 init 0 0 128 0 0"));
  EXPECT_THAT(g.records("pages"),
              UnorderedElementsAre("0 - 0x1100000 1 1 64 0 64 0 1", "100 10 0 1 0 128 0 0 0 -1",
                                   "100 - 0x100000 1 0 128 0 64 0 0"));
  EXPECT_THAT(g.records("code"),
              UnorderedElementsAre("0 0x401000 init 64 0", "0 0x401000 use 64 0",
                                   "100 0x401000 init 256 0", "100 0x401000 use 64 0"));
}

COUNTER_TEST(Phases, OfAForksChildAreUseIfTheParentSaidSo) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(0, "u");
  g.say(1, "f101 100");
  g.load_lines(1, on_node0, lines_a_page);
  EXPECT_THAT(g.records("cell"), ElementsAre("1 0 use 64 0 0 0"));
}

} // namespace
} // namespace nodewise::counter_test
