// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "counter/counted.hpp"

#include <map>
#include <sstream>

namespace nodewise::counter_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// thread PID INDEX TID
// users PID ID FIRST COUNT TO INDEX:LINES ...
// touched PID ID FIRST COUNT INDEX

const std::string machine = std::string(two_nodes) + one_level;
constexpr unsigned lines_a_page = page / line;

/// Two threads of a program, on processors 0 and 2, and an object of four pages.
void begin(guest& g) {
  g.say(0, "x100 prog");
  g.say(2, "t100 103");
  g.say(0, "oa 100000 4000 heap prog 0x12 -");
}

COUNTER_TEST(Threads, AreTheirProgramsInTheOrderOfBeginning) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(1, "t100 107");
  g.say(2, "x200 other");
  g.say(3, "t100"); // does not say its number
  g.run(1, 9);
  g.say(1, "f201 200");
  g.run(1, 1);
  g.say(1, "t100 108"); // another one has the structure of the one before
  EXPECT_THAT(g.records("thread"), UnorderedElementsAre("100 0 100", "100 1 107", "100 2 -",
                                                        "100 3 108", "200 0 200", "201 0 201"));
}

COUNTER_TEST(Threads, ThatCannotBeAreNone) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(1, "t100 0");
  g.say(1, "t100 10000000");
  EXPECT_THAT(g.records("thread"), ElementsAre("100 0 100"));
  EXPECT_THAT(g.records("uncounted"), testing::Contains(testing::StartsWith("2 announcements")));
}

COUNTER_TEST(Threads, ThatAreNotAnnouncedCountOnceTheyUseMemory) {
  guest g(machine);
  g.load(2, on_node0);
  g.load(1, on_node0 + page);
  g.load(2, on_node0 + page);
  EXPECT_THAT(g.records("thread"), ElementsAre("0 0 -", "0 1 -"));
  EXPECT_THAT(g.records("touched"), ElementsAre("0 - 0x100000 1 0", "0 - 0x101000 1 1"));
  EXPECT_THAT(g.records("users"), ElementsAre("0 - 0x101000 1 0 0:1"));
}

COUNTER_TEST(Threads, AloneOnPagesInARowAreToldTogether) {
  guest g(machine);
  begin(g);
  g.load_lines(0, on_node0, 4 * lines_a_page);
  g.load_lines(0, on_node0, lines_a_page);
  g.load_lines(0, on_node0 + page, 8); // not the same of every page
  g.load_lines(2, on_node0 + 2 * page, 2 * lines_a_page);
  EXPECT_THAT(g.records("touched"), ElementsAre("100 10 0 4 0"));
  EXPECT_THAT(g.records("users"), ElementsAre("100 10 0 2 0 0:72", "100 10 2 2 0 1:128"));
}

COUNTER_TEST(Threads, ThatShareAPageAreToldForEachPageUnlessTheyUseTheSameOfIt) {
  guest g(machine);
  begin(g);
  g.say(0, "u");
  for (unsigned i = 0; i < 3; ++i) {
    g.load_lines(0, on_node0 + i * page, 40);
    g.load_lines(2, on_node0 + i * page, i < 2 ? 30 : 31);
  }
  EXPECT_THAT(g.records("users"), ElementsAre("100 10 0 2 0 0:80 1:60", "100 10 2 1 0 0:40 1:31"));
}

COUNTER_TEST(Threads, AreTheUsersOnceThePageIsInUse) {
  guest g(machine);
  begin(g);
  g.load_lines(0, on_node0, 2 * lines_a_page);
  EXPECT_THAT(g.records("touched"), ElementsAre("100 10 0 2 0"));
  EXPECT_THAT(g.records("users"), IsEmpty());
}

COUNTER_TEST(Threads, AreNoUsersBeforeTheMark) {
  guest g(machine);
  begin(g);
  g.load_lines(2, on_node0, lines_a_page);
  g.load_lines(0, on_node0, lines_a_page);
  g.say(0, "ob 108000 1000 heap prog 0x34 -");
  g.load_lines(0, on_node0 + 8 * page, lines_a_page);
  g.load_lines(2, on_node0 + 8 * page, lines_a_page);
  g.say(0, "db"); // its pages are told before the mark
  g.say(0, "u");
  g.load_lines(2, on_node0, 5);
  EXPECT_THAT(g.records("users"), ElementsAre("100 10 0 1 0 1:5"));
  EXPECT_THAT(g.records("touched"), UnorderedElementsAre("100 10 0 1 1", "100 11 0 1 0"));
  EXPECT_THAT(g.records("codeuse"), ElementsAre("100 10 0x401000 5"));
}

COUNTER_TEST(Threads, AreTheSameUserOnEveryProcessor) {
  guest g(machine);
  begin(g);
  g.say(0, "u");
  g.load_lines(0, on_node0, 10);
  g.run(0, 9);
  g.run(3, 0); // the first thread, on the other node
  g.load_lines(3, on_node0, 20);
  EXPECT_THAT(g.records("users"), ElementsAre("100 10 0 1 0 0:30"));
  EXPECT_THAT(g.records("pages"), ElementsAre("100 10 0 1 0 0 0 10 20 1"));
}

COUNTER_TEST(Threads, UseAMovedPageWhereItWas) {
  guest g(machine);
  begin(g);
  g.say(0, "u");
  g.load_lines(0, on_node0, 10);
  fake_map(on_node0, on_node1);
  rig_forget(0);
  g.load_lines(0, on_node0, 20);
  EXPECT_THAT(g.records("users"), ElementsAre("100 10 0 1 0 0:10", "100 10 0 1 1 0:20"));
  EXPECT_THAT(g.records("pages"), ElementsAre("100 10 0 1 1 0 0 10 20 0"));
}

COUNTER_TEST(Threads, UseLinesThatTheyStream) {
  guest g(machine);
  begin(g);
  g.say(0, "u");
  g.load_lines(2, on_node0, 3);
  for (unsigned i = 0; i < 5; ++i) {
    g.stream(0, on_node0 + i * line);
  }
  EXPECT_THAT(g.records("users"), ElementsAre("100 10 0 1 0 0:5 1:3"));
  EXPECT_THAT(g.records("codeuse"), ElementsAre("100 10 0x401000 8"));
  EXPECT_THAT(g.records("pages"), ElementsAre("100 10 0 1 0 0 0 0 3 1")) << "by fills alone";
}

COUNTER_TEST(Threads, WorkFromOneLineInUseToTheNext) {
  guest g(machine);
  begin(g);
  g.execute(0, 1000); // to its first touch
  g.load_lines(0, on_node0, 2);
  g.execute(2, 30);
  g.load_lines(2, on_node0, 1); // of a page that is in use now
  g.execute(2, 5);
  g.run(2, 9);
  g.execute(2, 700); // by another task
  g.run(2, 2);
  g.execute(0, 400); // still its initialisation
  EXPECT_THAT(g.records("work"), ElementsAre("100 1 35"));
}

COUNTER_TEST(Threads, WorkInWhatAPageOfTheirOwnIsReadAgain) {
  guest g(machine);
  begin(g);
  g.execute(0, 1000);
  g.load_lines(0, on_node0, lines_a_page);
  g.execute(0, 50);
  g.load_lines(0, on_node0, lines_a_page);
  g.execute(0, 7);
  g.run(0, 9);
  EXPECT_THAT(g.records("work"), ElementsAre("100 0 57"));
}

COUNTER_TEST(Threads, WorkAfterTheMark) {
  guest g(machine);
  begin(g);
  g.load_lines(0, on_node0, 1);
  g.execute(2, 30);
  g.load_lines(2, on_node0, 1);
  g.say(2, "u");
  g.execute(2, 4);
  g.load_lines(2, on_node0 + page, 1);
  EXPECT_THAT(g.records("work"), ElementsAre("100 1 4"));
}

// All pages are on one node, so that they do not show where their users are.
COUNTER_TEST(Threads, AreAtWorkOnTheNodesOfTheirProcessors) {
  guest g(machine);
  begin(g);
  g.load_lines(0, on_node0, 8); // initialisation
  g.load_lines(2, on_node0, 8);
  g.load_lines(2, on_node0 + lines_a_page / 2 * line, 3);
  EXPECT_THAT(g.records("stay"), ElementsAre("100 1 1 11"));
}

COUNTER_TEST(Threads, UseObjectsOnOnePageApart) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(0, "oa 100000 1800 static prog 0x0 a");
  g.say(0, "ob 101800 1800 static prog 0x0 b");
  g.say(0, "u");
  g.load_lines(0, on_node0, 3 * lines_a_page);
  EXPECT_THAT(g.records("users"), UnorderedElementsAre("100 10 0 2 0 0:96", "100 11 0 2 0 0:96"));
}

// codeuse PID ID PC LINES

COUNTER_TEST(Threads, UseObjectsByInstructionsMostFirst) {
  guest g(machine);
  begin(g);
  g.say(0, "ob 108000 1000 heap prog 0x34 -");
  g.say(0, "u");
  for (unsigned i = 0; i < 20; ++i) {
    for (unsigned lines = 0; lines <= i; ++lines) {
      g.load(0, on_node0 + lines * line, 8, pc + 4 * i);
      g.load(0, on_node0 + 8 * page + lines * line, 8, pc); // the same for both objects
      g.load(0, on_node0 + page + lines * line, 8, pc + 1); // so that nothing stays in the cache
      g.load(0, on_node0 + 2 * page + lines * line, 8, pc + 1);
    }
  }
  std::map<std::string, std::vector<std::string>> of;
  for (const std::string& each : g.records("codeuse")) {
    of[each.substr(0, 6)].push_back(each.substr(7));
  }
  EXPECT_THAT(of["100 11"], ElementsAre("0x401000 210"));
  ASSERT_EQ(of["100 10"].size(), 16U);
  EXPECT_EQ(of["100 10"][0], "0x401001 420");
  EXPECT_EQ(of["100 10"][1], "0x40104c 20");
  EXPECT_EQ(of["100 10"][15], "0x401014 6");
}

/// Lines in use of each object, with its program.
using sums = std::map<std::string, std::uint64_t>;

COUNTER_TEST(Threads, UseOfEachObjectWhatItsTrafficIs) {
  guest g(machine);
  g.say(0, "x100 prog");
  g.say(2, "t100 103");
  g.say(0, "oa 100000 1100 static prog 0x0 a");
  g.say(0, "ob 101100 80 static prog 0x0 b");
  g.say(0, "oc 101180 2f00 heap prog 0x0 -");
  for (unsigned round = 0; round < 4; ++round) {
    for (const unsigned cpu : {0U, 2U, 1U}) {
      g.load_lines(cpu, on_node0, 50 + 60 * cpu);
      g.store_lines(cpu, on_node0 + page + round * line, 80);
      g.stream(cpu, on_node0 + 3 * page + cpu * line);
    }
    g.say(0, round == 1 ? "db" : "oc 101180 2e00 heap prog 0x0 -");
  }
  sums traffic;
  for (const std::string& each : g.records("traffic")) {
    std::istringstream words(each);
    std::string pid, id, phase;
    std::uint64_t from = 0, to = 0, fills = 0, write_backs = 0, streams = 0;
    words >> pid >> id >> phase >> from >> to >> fills >> write_backs >> streams;
    if (phase == "use" && fills + streams > 0) {
      traffic[pid + " " + id + " to " + std::to_string(to)] += fills + streams;
    }
  }
  sums users;
  for (const std::string& each : g.records("users")) {
    std::istringstream words(each);
    std::string pid, id, first, count, to, user;
    words >> pid >> id >> first >> count >> to;
    while (words >> user) {
      users[pid + " " + id + " to " + to] += std::stoull(user.substr(user.find(':') + 1));
    }
  }
  EXPECT_EQ(users, traffic);
  EXPECT_EQ(users.size(), 5U) << "three objects, the rest of the program, and nobody's";
}

} // namespace
} // namespace nodewise::counter_test
