// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "recorded_machines.hpp"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/machine/drawing.hpp"

namespace nodewise::test {

namespace {

report::style style_of(std::size_t width, bool unicode = true) {
  report::style how;
  how.unicode = unicode;
  how.width = width;
  return how;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

class Drawing : public testing::TestWithParam<recorded_machine> {};

INSTANTIATE_TEST_SUITE_P(Machines, Drawing, testing::ValuesIn(recorded_machines()),
                         test_name<testing::TestParamInfo<recorded_machine>>);

TEST_P(Drawing, StaysWithinTheWidth) {
  const topology machine = GetParam().load();
  for (const std::size_t width : {60U, 80U, 120U, 200U}) {
    const std::string text = cli::draw(machine, style_of(width));
    ASSERT_TRUE(text.ends_with('\n'));
    for (const std::string& line : lines_of(text)) {
      EXPECT_LE(report::display_width(line), width) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

TEST_P(Drawing, SurvivesATerminalOfNoWidth) {
  const topology machine = GetParam().load();
  EXPECT_FALSE(cli::draw(machine, style_of(1)).empty());
  EXPECT_FALSE(cli::draw(machine, style_of(0)).empty());
}

TEST_P(Drawing, IsAsciiWhereTheLocaleIs) {
  const std::string text = cli::draw(GetParam().load(), style_of(80, false));
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
    return c == '\n' || (c >= ' ' && c <= '~');
  })) << text;
}

TEST_P(Drawing, NamesEveryNode) {
  const topology machine = GetParam().load();
  const std::string text = cli::draw(machine, style_of(80));
  for (const node_id node : machine.machine().node_ids()) {
    EXPECT_NE(text.find(" P#" + std::to_string(to_int(node)) + " "), std::string::npos);
  }
}

TEST_P(Drawing, IsNotLongerThanAnybodyReads) {
  EXPECT_LT(lines_of(cli::draw(GetParam().load(), style_of(80))).size(), 110U);
}

TEST_P(Drawing, InColourSaysTheSame) {
  const topology machine = GetParam().load();
  report::style how = style_of(80);
  how.colour = true;
  std::string text = cli::draw(machine, how);
  for (std::size_t at = 0; (at = text.find('\x1b')) != std::string::npos;) {
    text.erase(at, text.find('m', at) - at + 1);
  }
  // A painted blank at the end of a line is a blank that the plain drawing has too.
  EXPECT_EQ(text, cli::draw(machine, style_of(80)));
}

TEST(DrawingOfTwoNodes, IsThis) {
  machine all;
  all.name = "two";
  all.nodes = {{node_id{0}, cpu_set::parse("0-1,4-5"), 8ULL << 30, memory_kind::dram, 0},
               {node_id{3}, cpu_set::parse("2-3,6-7"), 16ULL << 30, memory_kind::unknown, 1},
               {node_id{7}, {}, 64ULL << 30, memory_kind::cxl, 2}};
  for (const char* const cpus : {"0,4", "1,5", "2,6", "3,7"}) {
    all.cores.push_back({cpu_set::parse(cpus)});
  }
  all.caches = {{2, cache_kind::unified, 1 << 20, 64, 8, cpu_set::parse("0,4")}};
  all.distances = {{10, 21, 24}, {21, 10, 24}, {24, 24, 10}};
  const topology what(all, cpu_set::parse("0-1,4-5,2"), {node_id{0}, node_id{7}});
  EXPECT_EQ(cli::draw(what, style_of(80)), R"(two
3 nodes, 4 cores, 8 hardware threads, 88.0 GiB
allowed     5 of 8 threads (P#0-2,4-5), memory of 2 of 3 nodes (P#0,7)

╭─ node L#0 P#0 ───────╮ ╭─ x node L#1 P#3 ─────╮
│ 8.00 GiB DRAM        │ │ 16.0 GiB             │
│ ┌───────┬───────┐    │ │ x memory not allowed │
│ │  0  4 │  1  5 │    │ │ ┌───────┬───────┐    │
│ └───────┴───────┘    │ │ │  2 x6 │ x3 x7 │    │
│                      │ │ └───────┴───────┘    │
╰──────────────────────╯ ╰──────────────────────╯
╭─ node L#2 P#7 ─╮
│ 64.0 GiB CXL   │
│ no processors  │
╰────────────────╯
a cell is a core, its numbers are processors (P#); x: not allowed

caches      L2 1.00 MiB / core

distances  from the firmware, row to column: an order, not a cost
    0  3  7
 0 10 21 24
 3 21 10 24
 7 24 24 10
)");
}

machine two_measured() {
  machine all;
  all.name = "two";
  all.nodes = {{node_id{0}, cpu_set::parse("0"), 8ULL << 30, memory_kind::dram, 0},
               {node_id{1}, cpu_set::parse("1"), 8ULL << 30, memory_kind::dram, 1},
               {node_id{2}, {}, 64ULL << 30, memory_kind::cxl, 2}};
  all.cores = {{cpu_set::parse("0")}, {cpu_set::parse("1")}};
  const std::string source = "measured 2026-11-22";
  for (const int from : {0, 1}) {
    for (const int to : {0, 1, 2}) {
      const double far = to == 2 ? 3 : from == to ? 0 : 1;
      all.parameters.push_back(
          {"bandwidth", node_id{from}, node_id{to}, 21.25 - 5 * far, "GB/s", source});
    }
  }
  all.parameters.push_back({"latency", node_id{0}, node_id{2}, 251.4, "ns", source});
  all.parameters.push_back({"read_bandwidth", node_id{0}, node_id{0}, 20, "GB/s", "HMAT"});
  return all;
}

/// Behind the picture.
std::string tables(const machine& all, const std::vector<std::string>& costs = {}) {
  const std::string text = cli::draw(topology(all), style_of(80), costs);
  const std::string legend = "its numbers are processors (P#)\n\n";
  const std::size_t at = text.find(legend);
  return at == std::string::npos ? text : text.substr(at + legend.size());
}

TEST(DrawingOfCosts, IsATableAFigureWithItsSource) {
  EXPECT_EQ(tables(two_measured(), {"measured: /state/measured.json"}),
            R"(bandwidth (GB/s)  from row to column; measured 2026-11-22
          0     1     2
    0 21.25 16.25  6.25
    1 16.25 21.25  6.25

latency (ns)  from row to column; measured 2026-11-22
          2
    0 251.4

read bandwidth (GB/s)  from row to column; HMAT
    0
 0 20

costs       measured: /state/measured.json
)");
}

TEST(DrawingOfCosts, SaysWhereThereAreNone) {
  machine all = two_measured();
  all.parameters.clear();
  EXPECT_EQ(tables(all, {"not measured; nodewise measure"}),
            "costs       not measured; nodewise measure\n");
  EXPECT_EQ(tables(all).find("costs"), std::string::npos);
}

} // namespace

} // namespace nodewise::test
