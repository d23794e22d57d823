// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "counter/counted.hpp"

namespace nodewise::counter_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// object PID ID START BYTES KIND MODULE OFFSET NAME
// traffic PID ID PHASE FROM TO FILLS WRITEBACKS STREAMS
// pages PID ID FIRST COUNT TO INIT_LOCAL INIT_REMOTE USE_LOCAL USE_REMOTE USER

const std::string machine = std::string(two_nodes) + one_level;
constexpr unsigned lines_a_page = page / line;

COUNTER_TEST(Objects, HaveAnAccountOfTheirOwn) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(0, "oa 100000 2000 static libx.so 0x12f grid");
  g.load_lines(0, on_node0, 2 * lines_a_page);
  g.load(0, on_node0 + 2 * page);
  EXPECT_THAT(g.records("object"), ElementsAre("100 10 0x100000 8192 static libx.so 0x12f grid"));
  EXPECT_THAT(g.records("traffic"), ElementsAre("100 - init 0 0 1 0 0", "100 10 init 0 0 128 0 0"));
  EXPECT_THAT(g.records("pages"),
              ElementsAre("100 - 0x102000 1 0 1 0 0 0 -1", "100 10 0 2 0 128 0 0 0 -1"));
  EXPECT_THAT(g.records("freed"), IsEmpty());
}

// A group is known when its blocks have been filled: what others do with them then is use.
COUNTER_TEST(Objects, OfGroupsTakeOverThePagesThatAreThere) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(2, "t100");
  g.load_lines(0, on_node0, lines_a_page);
  g.say(0, "oa 100000 1000 group prog 0x12 -");
  g.load_lines(2, on_node0, lines_a_page);
  g.load_lines(0, on_node0 + page, lines_a_page);
  g.say(0, "oa 100000 2000 group prog 0x12 -"); // it has grown
  EXPECT_THAT(g.records("pages"),
              ElementsAre("100 10 0 1 0 64 0 0 64 1", "100 10 1 1 0 64 0 0 0 -1"));
  EXPECT_THAT(g.records("traffic"), ElementsAre("100 - init 0 0 128 0 0", "100 10 use 1 0 64 0 0"));
}

COUNTER_TEST(Objects, WithoutTrafficAreNotTold) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(0, "oa 100000 1000 heap prog 0x12 -");
  EXPECT_THAT(g.records("object"), IsEmpty());
}

COUNTER_TEST(Objects, TellWhoUsesThemFromWhere) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(2, "t100");
  g.say(0, "oa 100000 2000 heap prog 0x12 -");
  g.load_lines(0, on_node0, 2 * lines_a_page);
  g.load_lines(2, on_node0 + page, lines_a_page);
  EXPECT_THAT(g.records("traffic"),
              ElementsAre("100 10 init 0 0 128 0 0", "100 10 use 1 0 64 0 0"));
  EXPECT_THAT(g.records("pages"),
              ElementsAre("100 10 0 1 0 64 0 0 0 -1", "100 10 1 1 0 64 0 0 64 1"));
}

COUNTER_TEST(Objects, AtTheSameAddressOneAfterTheOtherAreTwo) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(0, "oa 100000 1000 heap prog 0x12 -");
  g.load_lines(0, on_node0, lines_a_page);
  g.say(0, "da");
  g.say(0, "ob 100000 1000 heap prog 0x34 -");
  g.load_lines(0, on_node0, 32);
  EXPECT_THAT(g.records("traffic"),
              UnorderedElementsAre("100 10 init 0 0 64 0 0", "100 11 init 0 0 32 0 0"));
  EXPECT_THAT(g.records("freed"), ElementsAre("100 10"));
}

COUNTER_TEST(Objects, ThatAreFreedLeaveTheirAddressesToNobody) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(0, "oa 100000 1000 heap prog 0x12 -");
  g.store(0, on_node0);
  g.say(0, "da");
  g.say(0, "da");                      // one too many is no harm
  g.load_lines(0, on_node0 + page, 4); // sends the line back that was stored to
  EXPECT_THAT(g.records("traffic"),
              ElementsAre("100 - init 0 0 4 0 0", "100 - use 0 0 0 1 0", "100 10 init 0 0 1 0 0"));
}

COUNTER_TEST(Objects, ThatMoveKeepTheirAccount) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(0, "oa 100000 2000 heap prog 0x12 -");
  g.load(0, on_node0 + page);
  g.say(0, "oa 90000 3000 heap prog 0x12 -");
  g.load(0, 0x92000);
  EXPECT_THAT(g.records("object"), ElementsAre("100 10 0x90000 12288 heap prog 0x12 -"));
  EXPECT_THAT(g.records("traffic"), ElementsAre("100 10 init 0 0 2 0 0"));
  EXPECT_THAT(g.records("pages"), ElementsAre("100 10 1 2 0 2 0 0 0 -1"));
}

COUNTER_TEST(Objects, OnOnePageAreToldApart) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(0, "oa 100000 800 heap prog 0x12 -");
  g.say(0, "ob 100800 400 heap prog 0x12 -");
  g.load_lines(0, on_node0, lines_a_page);
  EXPECT_THAT(g.records("traffic"),
              UnorderedElementsAre("100 10 init 0 0 32 0 0", "100 11 init 0 0 16 0 0",
                                   "100 - init 0 0 16 0 0"));
}

COUNTER_TEST(Objects, AreInheritedByAForksChild) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(0, "oa 100000 1000 heap prog 0x12 -");
  g.say(0, "m0x1000 0x2000 0x0 /bin/prog");
  g.load(0, on_node0);
  g.say(2, "f101 100");
  fake_map(on_node0, on_node1);
  g.load_lines(2, on_node0, 2);
  g.say(2, "da"); // the child's, not the parent's
  EXPECT_THAT(g.records("object"), UnorderedElementsAre("100 10 0x100000 4096 heap prog 0x12 -",
                                                        "101 10 0x100000 4096 heap prog 0x12 -"));
  EXPECT_THAT(g.records("freed"), ElementsAre("101 10"));
  EXPECT_THAT(g.records("traffic"),
              UnorderedElementsAre("100 10 init 0 0 1 0 0", "101 10 init 1 1 2 0 0"));
  EXPECT_THAT(g.records("mapping"), UnorderedElementsAre("100 0x1000 0x2000 0x0 /bin/prog",
                                                         "101 0x1000 0x2000 0x0 /bin/prog"));
}

COUNTER_TEST(Objects, AreFoundInAnotherPageOnceTheKernelMovedIt) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(0, "oa 100000 1000 heap prog 0x12 -");
  g.load(0, on_node0);
  fake_map(on_node0, on_node1);
  g.load(0, on_node0 + line); // not told yet
  rig_forget(0);
  g.load(0, on_node0 + 2 * line);
  EXPECT_THAT(g.records("traffic"), ElementsAre("100 10 init 0 0 2 0 0", "100 10 init 0 1 1 0 0"));
  EXPECT_THAT(g.records("pages"), ElementsAre("100 10 0 1 1 2 1 0 0 -1"));
}

} // namespace
} // namespace nodewise::counter_test
