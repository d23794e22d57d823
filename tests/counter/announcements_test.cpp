// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "counter/counted.hpp"

namespace nodewise::counter_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string machine = std::string(two_nodes) + one_level;
constexpr int begin = 0x10;
constexpr int end = 0x11;

std::string lost(unsigned count) {
  return std::to_string(count) +
         " announcements%20of%20programs%20that%20were%20cut%20off%20or%20invalid";
}

COUNTER_TEST(Announcements, OfTasksOnOneProcessorDoNotMix) {
  guest g(machine);
  g.mark(0, begin);
  g.say_bytes(0, "x10");
  g.run(0, 7);
  g.say(0, "x200 second");
  g.run(0, 0);
  g.say_bytes(0, "0 first");
  g.mark(0, end);
  EXPECT_THAT(g.records("program"), ElementsAre("0 0 -", "100 100 first", "200 200 second"));
  EXPECT_THAT(g.records("uncounted"), IsEmpty());
}

COUNTER_TEST(Announcements, GoOnWhereTheirTaskGoesOn) {
  guest g(machine);
  g.mark(0, begin);
  g.say_bytes(0, "x1");
  g.run(3, 0);
  g.run(0, 8);
  g.say_bytes(3, "00 prog");
  g.mark(3, end);
  EXPECT_THAT(g.records("program"), ElementsAre("0 0 -", "100 100 prog"));
}

COUNTER_TEST(Announcements, OfASignalHandlerTakeTheInterruptedOnesPlace) {
  guest g(machine);
  g.mark(0, begin);
  g.say_bytes(0, "x100 int");
  g.mark(0, 4); // in the middle of a byte
  g.say(0, "x200 handler");
  g.mark(0, 1);
  g.say_bytes(0, "errupted");
  g.mark(0, end);
  EXPECT_THAT(g.records("program"), ElementsAre("0 0 -", "200 200 handler"));
  EXPECT_THAT(g.records("uncounted"), ElementsAre(lost(1)));
}

COUNTER_TEST(Announcements, ThatAreCutOffOrMakeNoSenseAreToldNotObeyed) {
  guest g(machine);
  for (const char* const each : {"",
                                 "?",
                                 "x",
                                 "x100",
                                 "xprog 100",
                                 "f100",
                                 "t",
                                 "o1 2",
                                 "oa 100000 1000",
                                 "d",
                                 "m",
                                 "m1 2",
                                 "x0 zero",
                                 "x99999999999 many",
                                 "x-5 few",
                                 "f100 0",
                                 "oa 100000 1000 tree prog 0x1 -",
                                 "oa 100000 1000 heap prog 17 -",
                                 "oa 100000 1000 heap prog 0x1",
                                 "x100 two words",
                                 "m0x1 0x2 3 -",
                                 "oa 100000 1000 heap prog 0x1 a b",
                                 "n0 2000",
                                 "k0"}) {
    g.say(0, each);
  }
  g.mark(0, begin);
  g.say_bytes(0, "x100 prog");
  g.mark(0, 6); // half a byte too many
  g.mark(0, end);
  g.load(0, on_node0);
  EXPECT_THAT(g.records("program"), ElementsAre("0 0 -"));
  EXPECT_THAT(g.records("traffic"), ElementsAre("0 - init 0 0 1 0 0"));
  EXPECT_THAT(g.records("mapping"), IsEmpty());
  EXPECT_THAT(g.records("uncounted"), ElementsAre(lost(25)));
}

COUNTER_TEST(Announcements, ThatAreTooLongAreNotObeyedInPart) {
  guest g(machine);
  g.say(0, "x100 " + std::string(5000, 'n'));
  g.say(0, "x200 " + std::string(4000, 'n'));
  EXPECT_THAT(g.records("program"), ElementsAre("0 0 -", "200 200 " + std::string(4000, 'n')));
  EXPECT_THAT(g.records("uncounted"), ElementsAre(lost(1)));
}

COUNTER_TEST(Announcements, WithoutABeginAreNone) {
  guest g(machine);
  g.say_bytes(0, "x100 prog");
  g.mark(0, end);
  g.mark(0, 0x12); // a code without meaning
  g.mark(0, 0xffff);
  EXPECT_THAT(g.records("program"), ElementsAre("0 0 -"));
  EXPECT_THAT(g.records("uncounted"), IsEmpty());
}

COUNTER_TEST(Announcements, FromATaskThatWasNeverSeenAreTold) {
  guest g(machine);
  g.mark(9, begin);
  EXPECT_THAT(g.records("uncounted"), ElementsAre(lost(1)));
}

COUNTER_TEST(Announcements, OfTheEndEndItOnce) {
  guest g(machine);
  g.load(0, on_node0);
  g.mark(0, 0x22);
  const auto written = g.lines();
  g.mark(1, 0x22);
  g.load(1, on_node1);
  g.mark(1, 0x20);
  g.load(1, on_node1);
  EXPECT_EQ(g.lines(), written);
  EXPECT_THAT(g.records("complete"), ElementsAre(""));
}

} // namespace
} // namespace nodewise::counter_test
