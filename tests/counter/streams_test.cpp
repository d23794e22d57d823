// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "counter/counted.hpp"

namespace nodewise::counter_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// cell CPU NODE PHASE FILLS WRITEBACKS DIRTY STREAMS

const std::string machine = std::string(two_nodes) + one_level;

void stream_line(guest& g, std::uint64_t address) {
  for (std::uint64_t at = 0; at < line; at += 16) {
    g.stream(0, address + at, 16);
  }
}

COUNTER_TEST(Streams, CombineTheStoresToALine) {
  guest g(machine);
  stream_line(g, on_node0);
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 0 0 0 1"));
}

COUNTER_TEST(Streams, CountEachLineOfAnArray) {
  guest g(machine);
  for (unsigned i = 0; i < 64; ++i) {
    stream_line(g, on_node1 + i * line);
  }
  EXPECT_THAT(g.records("cell"), ElementsAre("0 1 init 0 0 0 64"));
  EXPECT_THAT(g.records("accesses"), ElementsAre("256"));
}

COUNTER_TEST(Streams, CountALineAgainThatWasComplete) {
  guest g(machine);
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < 2; ++i) {
      stream_line(g, on_node0 + i * line);
    }
  }
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 0 0 0 2", "0 0 use 0 0 0 4"));
}

COUNTER_TEST(Streams, CombineInSeveralLinesAtATime) {
  guest g(machine);
  for (std::uint64_t at = 0; at < 32; at += 8) {
    for (unsigned i = 0; i < 4; ++i) {
      g.stream(0, on_node0 + i * line + at);
    }
  }
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 0 0 0 4"));
}

COUNTER_TEST(Streams, SendAnUnfinishedLineAwayForOthers) {
  guest g(machine);
  for (unsigned i = 0; i < 9; ++i) {
    g.stream(0, on_node0 + i * line);
  }
  g.stream(0, on_node0 + 8);
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 0 0 0 9", "0 0 use 0 0 0 1"));
}

COUNTER_TEST(Streams, ThatCrossALineAreTwo) {
  guest g(machine);
  g.stream(0, on_node0 + line - 4);
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 0 0 0 2"));
}

COUNTER_TEST(Streams, TakeTheLineFromEveryCache) {
  guest g(std::string(two_nodes) + shared_second_level);
  g.store(0, on_node0);
  g.load(2, on_node0); // writes it back: 1
  g.store(2, on_node0);
  stream_line(g, on_node0); // and 2
  g.load(2, on_node0);
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 1 0 0 0", "0 0 use 0 1 0 1",
                                             "2 0 init 0 1 0 0", "2 0 use 1 0 0 0"));
}

} // namespace
} // namespace nodewise::counter_test
