// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "counter/counted.hpp"

namespace nodewise::counter_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const std::string machine = std::string(two_nodes) + one_level;

COUNTER_TEST(Programs, WithTheSameAddressesAreTwo) {
  guest g(machine);
  g.say(0, "x100 first");
  g.say(2, "x200 second");
  g.load(0, on_node0);
  fake_map(on_node0, on_node1);
  g.load_lines(2, on_node0, 2);
  g.run(0, 2); // the second one's task, on the first one's processor
  g.load(0, on_node0 + 2 * line);
  EXPECT_THAT(
      g.records("traffic"),
      UnorderedElementsAre("100 - init 0 0 1 0 0", "200 - init 1 1 2 0 0", "200 - init 0 1 1 0 0"));
  EXPECT_THAT(g.records("program"),
              UnorderedElementsAre("0 0 -", "100 100 first", "200 200 second"));
}

COUNTER_TEST(Programs, ThatAreNotAnnouncedAreNobody) {
  guest g(machine);
  g.load(0, on_node0);
  EXPECT_THAT(g.records("traffic"), ElementsAre("0 - init 0 0 1 0 0"));
  EXPECT_THAT(g.records("program"), ElementsAre("0 0 -"));
}

COUNTER_TEST(Programs, OneAfterTheOtherInAProcessAreToldApart) {
  guest g(machine);
  for (const char* const name : {"x100 a", "x100 b", "x100 c"}) {
    g.say(0, name);
    g.load(0, on_node0);
    g.load(0, on_node0 + 2 * line);
    g.load(0, on_node0 + 4 * line);
  }
  EXPECT_THAT(g.records("traffic"),
              UnorderedElementsAre("100 - init 0 0 3 0 0", "10000100 - init 0 0 3 0 0",
                                   "20000100 - init 0 0 3 0 0"));
}

COUNTER_TEST(Programs, NameTheirParent) {
  guest g(machine);
  g.say(0, "x100 shell");
  g.say(1, "f101 100");
  g.say(1, "x101 tool"); // is nobody's child but itself
  g.say(2, "f102 77");   // of somebody who did not announce itself
  EXPECT_THAT(g.records("program"), UnorderedElementsAre("0 0 -", "100 100 shell", "101 100 shell",
                                                         "10000101 10000101 tool", "102 77 -"));
}

COUNTER_TEST(Programs, SayWhenTheyEndAndWhatWasMappedThen) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(0, "m0x1000 0x2000 0x0 /bin/prog");
  g.say(0, "M");
  g.say(0, "m0x5000 0x6000 0x0 %5Bheap%5D");
  g.say(0, "e");
  g.say(1, "x200 killed");
  EXPECT_THAT(g.records("mapping"), ElementsAre("100 0x5000 0x6000 0x0 %5Bheap%5D"));
  EXPECT_THAT(g.records("ended"), ElementsAre("100"));
}

// Mappings are read when a program begins and ends: stacks of threads between are in neither.
COUNTER_TEST(Programs, KeepTheStacksOfThreadsThatHaveEnded) {
  guest g(machine);
  const char* const stack = "s0x7000 0x9000 0x0 %5Bstack%5D";
  g.say(0, "x100 prog");
  g.say(1, "t100 101");
  g.say(1, stack);
  g.say(2, "t100 102"); // gets the stack of the one before
  g.say(2, stack);
  g.say(3, "f200 100"); // inherits it
  g.say(0, "M");
  g.say(0, "m0x5000 0x6000 0x0 %5Bheap%5D");
  EXPECT_THAT(g.records("mapping"), UnorderedElementsAre("100 0x7000 0x9000 0x0 %5Bstack%5D",
                                                         "200 0x7000 0x9000 0x0 %5Bstack%5D",
                                                         "100 0x5000 0x6000 0x0 %5Bheap%5D"));
}

COUNTER_TEST(Programs, HaveTheirThreadsOnEveryProcessor) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(3, "t100");
  g.load(3, on_node0);
  EXPECT_THAT(g.records("traffic"), ElementsAre("100 - init 1 0 1 0 0"));
}

COUNTER_TEST(Programs, DoNotOwnTheKernelsMemory) {
  guest g(machine);
  g.say(0, "x100 prog");
  constexpr std::uint64_t stack = 0xffff888005459000;
  fake_map(stack, on_node0);
  g.store(0, stack); // by the processor, when it is interrupted
  g.run(0, 5);
  g.store(0, stack + 2 * line);
  g.load(0, on_node0 + page);
  EXPECT_THAT(g.records("traffic"), ElementsAre("0 - init 0 0 1 0 0"));
  EXPECT_THAT(g.records("touched"), ElementsAre("0 - 0x101000 1 0"));
  EXPECT_THAT(g.records("uncounted"), IsEmpty());
}

COUNTER_TEST(Programs, DoNotCountTheirHelpers) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.mark(0, 0x21);
  g.load(0, on_node0);
  g.stream(0, on_node0);
  g.run(0, 5);
  g.load(0, on_node0);
  g.run(0, 0);
  g.load(0, on_node0);
  g.mark(0, 0x20);
  g.load(0, on_node0 + line);
  EXPECT_THAT(g.records("accesses"), ElementsAre("2"));
}

COUNTER_TEST(Programs, CountAThreadWhoseTaskWasAHelpersBefore) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.mark(1, 0x21); // task 1, which ends; a thread of the program gets its structure
  g.run(1, 1);
  g.say(1, "t100");
  g.load(1, on_node0);
  EXPECT_THAT(g.records("traffic"), ElementsAre("100 - init 0 0 1 0 0"));
}

COUNTER_TEST(Programs, TakeATaskForAnotherThreadOnceItSaysSo) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(1, "t100");
  g.load_lines(1, on_node0, 64);
  g.say(1, "t100"); // the first thread has ended, another one has its structure
  g.load_lines(1, on_node0, 64);
  EXPECT_THAT(g.records("cell"), ElementsAre("1 0 init 64 0 0 0", "1 0 use 64 0 0 0"));
}

// region PID NAME FROM TO FILLS WRITEBACKS STREAMS

COUNTER_TEST(Regions, ChargeTheOneThatWasOpenedLast) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(1, "t100");
  g.say(0, "[outer loop");
  g.load_lines(0, on_node0, 64);
  g.say(0, "[inner");
  g.load_lines(1, on_node1, 64); // of all threads
  g.say(0, "]inner");
  g.load_lines(0, on_node0, 32);
  g.say(0, "]outer loop");
  g.load_lines(0, on_node0, 64);
  EXPECT_THAT(g.records("region"),
              UnorderedElementsAre("100 outer%20loop 0 0 96 0 0", "100 inner 0 1 64 0 0"));
}

COUNTER_TEST(Regions, AreOpenFromTheFirstStartToTheLastStop) {
  guest g(machine);
  g.say(0, "x100 prog");
  for (const char* const each : {"[a", "[a", "]a", "]never-opened"}) {
    g.say(0, each);
  }
  g.load(0, on_node0);
  g.say(0, "]a");
  g.say(0, "]a"); // one too many
  g.load(0, on_node0 + line);
  EXPECT_THAT(g.records("region"), ElementsAre("100 a 0 0 1 0 0"));
}

COUNTER_TEST(Regions, HaveTheirWriteBacksAndStreams) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(0, "[r");
  g.store_lines(0, on_node0, 16);
  g.stream(0, on_node1);
  g.say(0, "]r");
  g.load_lines(0, on_node0 + page, 4); // sends the last four back, outside
  EXPECT_THAT(g.records("region"), UnorderedElementsAre("100 r 0 0 16 12 0", "100 r 0 1 0 0 1"));
}

COUNTER_TEST(Regions, AreNamedByTheirFirst63Bytes) {
  guest g(machine);
  const std::string name(63, 'n');
  g.say(0, "x100 prog");
  g.say(0, "[" + name + "1");
  g.load(0, on_node0);
  g.say(0, "]" + name + "2");
  g.load(0, on_node0 + line);
  EXPECT_THAT(g.records("region"), ElementsAre("100 " + name + " 0 0 1 0 0"));
}

} // namespace
} // namespace nodewise::counter_test
