// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "counter/counted.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace nodewise::counter_test {
namespace {

const std::string machine = std::string(two_nodes) + shared_second_level;

COUNTER_TEST(Result, DescribesTheMachineFirst) {
  guest g(machine);
  g.mark(0, 0x22);
  EXPECT_THAT(g.lines(),
              testing::ElementsAre("nodewise-counts 1", "selftest 4 2", "line_bytes 64",
                                   "page_bytes 4096", "coherence 1", "cache 1 data 256 2 core",
                                   "cache 2 unified 512 2 node", "processor 0 0", "processor 1 0",
                                   "processor 2 1", "processor 3 1", "memory 0", "memory 1",
                                   "program 0 0 -", "accesses 0", "complete"));
}

COUNTER_TEST(Result, LeavesOutNodesWithoutMemory) {
  guest g("low_memory 2952790016\nprocessor 0 0 0\nprocessor 1 1 0\nprocessor 2 2 1\n"
          "processor 3 3 3\nmemory 0 16777216\nmemory 1 16777216\nmemory 2 0\n" +
          std::string(one_level));
  EXPECT_THAT(g.records("memory"), testing::ElementsAre("0", "1"));
  EXPECT_THAT(g.records("processor"), testing::ElementsAre("0 0", "1 0", "2 1", "3 3"));
}

/// A bit of everything, done by four threads of two programs.
void work(guest& g) {
  g.say(0, "x100 a%20b");
  g.say(1, "t100");
  g.say(2, "x200 c");
  g.say(3, "f201 200");
  g.say(0, "oa 100000 2000 heap prog 0x12 -");
  g.say(0, "ob 103000 1000 static prog 0x0 grid");
  g.say(0, "m0x1000 0x2000 0x0 /bin/prog");
  g.say(0, "[a region");
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned cpu = 0; cpu < 4; ++cpu) {
      g.store_lines(cpu, on_node0, 256);
      g.load_lines(cpu, on_node1, 64);
      g.store(cpu, on_node0 + 8 * cpu);
    }
  }
  g.stream(0, on_node1);
  g.say(0, "da");
  g.say(0, "e");
  g.say(0, "nonsense");
}

COUNTER_TEST(Result, HasOnlyRecordsOfTheFormat) {
  guest g(machine);
  work(g);
  g.mark(0, 0x22);
  const std::string id = "(-|[0-9]+)";
  const std::string name = "([A-Za-z0-9_./-]|%[0-9A-F]{2})+";
  const std::string hex = "0x[0-9a-f]+";
  const std::string list = "(-|[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)";
  const std::vector<std::pair<std::string, std::string>> grammar = {
      {"nodewise-counts", "1"},
      {"selftest", "[0-9]+ [0-9]+"},
      {"line_bytes", "64"},
      {"page_bytes", "4096"},
      {"coherence", "1"},
      {"cache", "[0-9]+ (data|unified) [0-9]+ [0-9]+ (core|node)"},
      {"processor", "[0-9]+ [0-9]+"},
      {"memory", "[0-9]+"},
      {"program", "[0-9]+ [0-9]+ " + name},
      {"mapping", "[0-9]+ " + hex + " " + hex + " " + hex + " " + name},
      {"ended", "[0-9]+"},
      {"thread", "[0-9]+ [0-9]+ (-|[0-9]+)"},
      {"stay", "[0-9]+ [0-9]+ [0-9]+ [0-9]+"},
      {"object",
       "[0-9]+ [0-9]+ " + hex + " [0-9]+ (heap|map|static|group) " + name + " " + hex + " " + name},
      {"freed", "[0-9]+ [0-9]+"},
      {"cell", "[0-9]+ [0-9]+ (init|use) [0-9]+ [0-9]+ [0-9]+ [0-9]+"},
      {"transfers", "[0-9]+ [0-9]+ [0-9]+ [0-9]+"},
      {"traffic", "[0-9]+ " + id + " (init|use) [0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+"},
      {"pages",
       "[0-9]+ (- " + hex + "|[0-9]+ [0-9]+) [0-9]+ -?[0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+ -?[0-9]+"},
      {"touched", "[0-9]+ (- " + hex + "|[0-9]+ [0-9]+) [0-9]+ [0-9]+"},
      {"users", "[0-9]+ (- " + hex + "|[0-9]+ [0-9]+) [0-9]+ [0-9]+( [0-9]+:[0-9]+)+"},
      {"codeuse", "[0-9]+ " + id + " " + hex + " [0-9]+"},
      {"code", "[0-9]+ " + hex + " (init|use) [0-9]+ [0-9]+"},
      {"shared",
       "[0-9]+ " + hex + " " + id + " [0-9]+ [0-9]+ " + list + " " + list + " [01] [0-9]+ " + hex},
      {"region", "[0-9]+ " + name + " [0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+"},
      {"uncounted", "[0-9]+ " + name},
      {"accesses", "[0-9]+"},
      {"complete", ""},
  };
  for (const auto& [kind, rest] : grammar) {
    const auto found = g.records(kind);
    EXPECT_FALSE(found.empty()) << kind;
    for (const std::string& each : found) {
      EXPECT_THAT(each, testing::MatchesRegex(rest)) << kind;
    }
  }
  for (const std::string& each : g.lines()) {
    const std::string kind = each.substr(0, each.find(' '));
    EXPECT_TRUE(std::any_of(grammar.begin(), grammar.end(), [&](const auto& known) {
      return known.first == kind;
    })) << each;
  }
  EXPECT_EQ(g.lines().front(), "nodewise-counts 1");
  EXPECT_EQ(g.lines().back(), "complete");
}

struct sums {
  unsigned long fills = 0;
  unsigned long write_backs = 0;
  unsigned long streams = 0;
  friend bool operator==(const sums&, const sums&) = default;
};

COUNTER_TEST(Result, HasTheSameSumsByProcessorByObjectByPageAndByInstruction) {
  guest g(machine);
  work(g);
  sums cells;
  for (const std::string& each : g.records("cell")) {
    unsigned long n[3];
    ASSERT_EQ(std::sscanf(each.c_str(), "%*u %*u %*s %lu %lu %*u %lu", &n[0], &n[1], &n[2]), 3);
    cells = {cells.fills + n[0], cells.write_backs + n[1], cells.streams + n[2]};
  }
  sums traffic;
  for (const std::string& each : g.records("traffic")) {
    unsigned long n[3];
    ASSERT_EQ(std::sscanf(each.c_str(), "%*u %*s %*s %*u %*u %lu %lu %lu", &n[0], &n[1], &n[2]), 3);
    traffic = {traffic.fills + n[0], traffic.write_backs + n[1], traffic.streams + n[2]};
  }
  unsigned long of_pages = 0;
  for (const std::string& each : g.records("pages")) {
    unsigned long n[4];
    ASSERT_EQ(std::sscanf(each.c_str(), "%*u %*s %*s %*u %*d %lu %lu %lu %lu", &n[0], &n[1], &n[2],
                          &n[3]),
              4);
    of_pages += n[0] + n[1] + n[2] + n[3];
  }
  unsigned long of_code = 0;
  for (const std::string& each : g.records("code")) {
    unsigned long n[2];
    ASSERT_EQ(std::sscanf(each.c_str(), "%*u %*s %*s %lu %lu", &n[0], &n[1]), 2);
    of_code += n[0] + n[1];
  }
  EXPECT_EQ(traffic, cells);
  EXPECT_EQ(of_pages, cells.fills);
  EXPECT_EQ(of_code, cells.fills);
  EXPECT_GT(cells.fills, 1000U);
}

} // namespace
} // namespace nodewise::counter_test
