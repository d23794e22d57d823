// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "counter/counted.hpp"

#include <map>
#include <random>

namespace nodewise::counter_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string machine = std::string(two_nodes) + two_levels;

/// What any program may do: whatever it says, the counter goes on and its file keeps its form.

COUNTER_TEST(Nonsense, AboutAnObjectWithoutEndTakesNoTime) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.load(0, on_node0);
  for (unsigned i = 0; i < 1000; ++i) {
    g.say(0, "oa 0 7ffffffff000 heap prog 0x12 -");
    g.say(0, "da");
  }
  g.load(0, on_node0 + line);
  EXPECT_THAT(g.records("traffic"), ElementsAre("100 - init 0 0 2 0 0"));
}

COUNTER_TEST(Nonsense, AboutObjectsThatCannotBeIsRefused) {
  guest g(machine);
  g.say(0, "x100 prog");
  for (const char* const each :
       {"oa 0 ffffffffffffffff heap prog 0x12 -", "oa ffffffffffffffff 2 heap prog 0x12 -",
        "oa 7ffffffff000 2000 heap prog 0x12 -", "offffffffffffffff 100000 1000 heap prog 0x12 -",
        "oa 100000 0 heap prog 0x12 -"}) {
    g.say(0, each);
  }
  g.load(0, on_node0);
  EXPECT_THAT(g.records("object"), IsEmpty());
  EXPECT_THAT(g.records("uncounted"), testing::Contains(testing::StartsWith("5 announcements")));
}

COUNTER_TEST(Nonsense, InNamesMakesNoRecords) {
  guest g(machine);
  g.say(0, "x100 a\nrefused b");
  g.say(0, "x100 \x01\xff");
  g.say(0, "oa 100000 1000 heap prog 0x12 -\nrefused c");
  g.say(0, "ob 100000 1000 heap prog 0x12 %zz");
  g.say(0, "m0x1 0x2 0x0 /d\ncomplete");
  g.say(0, "[e\nrefused f");
  g.load(0, on_node0);
  EXPECT_THAT(g.records("refused"), IsEmpty());
  EXPECT_THAT(g.records("complete"), ElementsAre(""));
  EXPECT_THAT(g.records("region"), ElementsAre("0 e%0Arefused%20f 0 0 1 0 0"));
  EXPECT_THAT(g.records("program"), ElementsAre("0 0 -"));
}

COUNTER_TEST(Nonsense, InAnyNumberLeavesTheOthersTheirMemory) {
  guest g(machine);
  for (unsigned i = 0; i < 100000; ++i) {
    g.say(0, "[" + std::to_string(i));
    g.say(0, "m0x1 0x2 0x0 /a");
  }
  g.load(0, on_node0);
  EXPECT_LE(g.records("mapping").size(), 65536U);
  EXPECT_THAT(g.records("uncounted"), testing::Not(IsEmpty()));
}

/// Bytes that look a little like messages, so that some of them are obeyed.
std::string babble(std::mt19937& random) {
  static const std::vector<std::string> words = {"x",
                                                 "f",
                                                 "t",
                                                 "o",
                                                 "d",
                                                 "M",
                                                 "m",
                                                 "e",
                                                 "[",
                                                 "]",
                                                 "u",
                                                 "k",
                                                 "n",
                                                 " ",
                                                 " ",
                                                 " ",
                                                 "0",
                                                 "1",
                                                 "a",
                                                 "100000",
                                                 "1000",
                                                 "101000",
                                                 "fffffffffffff000",
                                                 "heap",
                                                 "map",
                                                 "0x1",
                                                 "-",
                                                 "%41",
                                                 "\n",
                                                 std::string(1, '\0'),
                                                 "\xff",
                                                 "99999999999999999999999"};
  std::string text = words[random() % 13];
  for (auto i = random() % 12; i > 0; --i) {
    text += words[random() % words.size()];
    text += random() % 2 ? " " : "";
  }
  return text;
}

COUNTER_TEST(Nonsense, OfAllKindsIsSurvived) {
  guest g(machine);
  std::mt19937 random(1);
  for (unsigned i = 0; i < 100000; ++i) {
    const auto cpu = static_cast<unsigned>(random() % 4);
    switch (random() % 8) {
    case 0:
      g.run(cpu, static_cast<unsigned>(random() % 6));
      break;
    case 1:
      g.mark(cpu, static_cast<int>(random() % 0x22)); // all but the end
      break;
    case 2:
      g.stream(cpu, (random() % 2 ? on_node0 : on_node1) + random() % (4 * page));
      break;
    case 3:
      g.say(cpu, babble(random));
      break;
    default:
      rig_access(cpu, random() % 2 == 0, 1U << random() % 7,
                 (random() % 2 ? on_node0 : on_node1) + random() % (4 * page), pc);
    }
  }
  g.run(0, 50);
  EXPECT_THAT(g.records("complete"), ElementsAre(""));
  std::map<std::string, unsigned long> threads;
  for (const std::string& each : g.records("thread")) {
    ++threads[each.substr(0, each.find(' '))];
  }
  for (const std::string& each : g.records("touched")) {
    EXPECT_LT(std::stoul(each.substr(each.rfind(' '))), threads[each.substr(0, each.find(' '))])
        << each;
  }
  EXPECT_GT(threads.size(), 2U);
  for (const std::string& each : g.lines()) {
    for (const char byte : each) {
      ASSERT_TRUE(byte >= ' ' && byte <= '~') << each;
    }
  }
}

} // namespace
} // namespace nodewise::counter_test
