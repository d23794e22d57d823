// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "counter/counted.hpp"

#include <cstdio>

namespace nodewise::counter_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string machine = std::string(two_nodes) + one_level;
constexpr int observe = 0x20;

void name_processors(guest& g) {
  for (unsigned cpu = 0; cpu < 4; ++cpu) {
    g.run(cpu, 99);
    g.say(cpu, "k" + std::to_string(3 - cpu)); // Linux may number them otherwise
  }
}

void name_page(guest& g, unsigned node, std::uint64_t address) {
  char text[40];
  std::snprintf(text, sizeof text, "n%u %llx", node, static_cast<unsigned long long>(address));
  g.say(0, text);
  g.load(0, address);
}

void expect_refused(guest& g, const char* why) {
  g.mark(0, observe);
  const auto lines = g.lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "nodewise-counts 1");
  EXPECT_THAT(lines[1], testing::StartsWith("refused "));
  EXPECT_THAT(lines[1], HasSubstr(why));
  EXPECT_EQ(lines[2], "complete");
  g.load(0, on_node0);
  g.mark(0, 0x22);
  EXPECT_EQ(g.lines(), lines) << "after that, nothing";
}

COUNTER_TEST(SelfTest, LearnsWhichProcessorIsWhich) {
  guest g(machine, false);
  name_processors(g);
  name_page(g, 0, 0x2000);
  name_page(g, 1, on_node1);
  g.mark(0, observe);
  g.load(0, on_node0);
  EXPECT_THAT(g.records("cell"), ElementsAre("3 0 init 1 0 0 0"));
  EXPECT_THAT(g.records("selftest"), ElementsAre("4 2"));
}

COUNTER_TEST(SelfTest, LearnsHowAddressesAreToBeRead) {
  guest g(machine, false);
  name_processors(g);
  fake_map(on_node1, 2 * node_bytes + 0x5000); // the second block, behind its place
  name_page(g, 0, 0x2000);
  name_page(g, 1, on_node1);
  g.mark(0, observe);
  g.load(0, on_node1);
  EXPECT_THAT(g.records("cell"), ElementsAre("3 1 init 1 0 0 0"));
}

COUNTER_TEST(SelfTest, RefusesANodeThatIsAnother) {
  guest g(machine, false);
  name_processors(g);
  name_page(g, 0, 0x2000);
  name_page(g, 1, on_node0);
  expect_refused(g, "move_pages");
}

COUNTER_TEST(SelfTest, RefusesAProcessorThatIsMissing) {
  guest g(machine, false);
  for (unsigned cpu = 0; cpu < 3; ++cpu) {
    g.run(cpu, 99);
    g.say(cpu, "k" + std::to_string(cpu));
  }
  name_page(g, 0, 0x2000);
  name_page(g, 1, on_node1);
  expect_refused(g, "processors");
}

COUNTER_TEST(SelfTest, RefusesAProcessorThatIsThereTwice) {
  guest g(machine, false);
  name_processors(g);
  g.run(4, 99);
  g.say(4, "k2");
  name_page(g, 0, 0x2000);
  name_page(g, 1, on_node1);
  expect_refused(g, "processors");
}

COUNTER_TEST(SelfTest, RefusesAProcessorOfTwoNumbers) {
  guest g(machine, false);
  name_processors(g);
  g.say(0, "k0");
  name_page(g, 0, 0x2000);
  name_page(g, 1, on_node1);
  expect_refused(g, "processors");
}

COUNTER_TEST(SelfTest, RefusesAProcessorThatIsNotOfThisMachine) {
  guest g(machine, false);
  name_processors(g);
  g.run(4, 99);
  g.say(4, "k4");
  name_page(g, 0, 0x2000);
  name_page(g, 1, on_node1);
  expect_refused(g, "processors");
}

COUNTER_TEST(SelfTest, RefusesANodeOfWhichNothingWasSeen) {
  guest g(machine, false);
  name_processors(g);
  name_page(g, 0, 0x2000);
  expect_refused(g, "node");
}

COUNTER_TEST(SelfTest, RefusesAPageThatWasTouchedUnseen) {
  guest g(machine, false);
  name_processors(g);
  name_page(g, 0, 0x2000);
  name_page(g, 1, on_node1);
  g.say(0, "n1 1003000"); // and no load
  expect_refused(g, "touched");
}

COUNTER_TEST(SelfTest, RefusesANodeThatCannotBe) {
  guest g(machine, false);
  name_processors(g);
  name_page(g, 0, 0x2000);
  name_page(g, 1, on_node1);
  name_page(g, 64, on_node1 + page);
  expect_refused(g, "");
}

COUNTER_TEST(SelfTest, IsOverOnceItCounts) {
  guest g(machine);
  g.mark(1, 0x21);
  g.say(0, "n70 100000");
  g.load(1, on_node0); // by a helper
  g.say(0, "k9");
  g.mark(0, observe);
  EXPECT_THAT(g.records("selftest"), ElementsAre("4 2"));
  EXPECT_THAT(g.records("refused"), IsEmpty());
}

} // namespace
} // namespace nodewise::counter_test
