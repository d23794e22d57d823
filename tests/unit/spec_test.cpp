// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which syntax a text is in, what each names, and what is refused. The other tools' own answers are
// held against these in tests/topology/hwloc_locations_test.cpp and tests/lab/specs_test.py.
#include "spec/spec.hpp"
#include "spec_words.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "unit/grid_machine.hpp"

namespace nodewise::spec {
namespace {

using test::grid;
using test::memory;
using test::processors;
using test::refusal;
using testing::HasSubstr;

/// Two packages with a node each, of four cores with two hardware threads: processors 0-7 are the
/// first threads, 8-15 the second ones. A last cache for each package.
machine two_packages() {
  machine made = grid(2, 4, 2);
  for (const memory_node& node : made.nodes) {
    made.packages.push_back({to_int(node.id), node.cpus});
    made.caches.push_back({3, cache_kind::unified, 1U << 24, 64, 16, node.cpus});
  }
  return made;
}

std::string in_order(std::string_view text, const topology& where) {
  std::string list;
  for (const cpu_id cpu : resolve_cpus(text, where).in_order) {
    list += (list.empty() ? "" : ",") + std::to_string(to_int(cpu));
  }
  return list;
}

std::string cpu_refusal(std::string_view text, const topology& where) {
  return refusal([&] { (void)resolve_cpus(text, where); });
}

TEST(Syntax, IsToldFromTheText) {
  for (const char* text : {"0-3,8", "+0", "!0", "all", "", "x", "netdev:eth0", "near:pci=3b:00.0",
                           "file:/a@b", "block:sda", "pci:3b:00.0", "ip:host"}) {
    EXPECT_EQ(syntax_of(text), syntax::numactl) << text;
  }
  for (const char* text : {"core:0", "package:1.core:0-3", "numa[hbm]:0", "os=eth0", "0x0f",
                           "x0x0f", "0xff,0x0", "~pu:0", "^all", "all ~core:0", "root", "machine",
                           "L3:0", "Socket:0", "node:0", "co:1", "die:0", "xcore:0"}) {
    EXPECT_EQ(syntax_of(text), syntax::hwloc) << text;
  }
  for (const char* text : {"N", "S0", "M1:0", "S0:0-3@S1:0-3", "E:N:4:2:4", "M:scatter",
                           "S:balanced:4", "L:0-3", "C0:0", "D1", "0-1@S1:0", "N:0-3"}) {
    EXPECT_EQ(syntax_of(text), syntax::likwid) << text;
  }
}

TEST(Syntax, DecidesHowMuchOfTheMachineIsRead) {
  EXPECT_EQ(detail_for("0-3"), sysfs_detail::nodes);
  EXPECT_EQ(detail_for("near:netdev=eth0"), sysfs_detail::nodes);
  EXPECT_EQ(detail_for("core:0"), sysfs_detail::all);
  EXPECT_EQ(detail_for("S0:0"), sysfs_detail::all);
}

TEST(NumactlAndHwloc, ListProcessorsAscendingAndOnce) {
  const topology where{two_packages()};
  EXPECT_EQ(in_order("3,1,1-2", where), "1,2,3");
  EXPECT_EQ(in_order("core:1 core:0 core:1", where), "0,1,8,9");
}

TEST(HwlocText, CountsLogically) {
  const topology where{two_packages()};
  EXPECT_EQ(in_order("pu:0-3", where), "0,1,8,9");
  EXPECT_EQ(in_order("package:1.core:0-1", where), "4,5,12,13");
  EXPECT_EQ(in_order("package:1.core:2-", where), "6,7,14,15");
  EXPECT_EQ(in_order("core:7:2", where), "0,7,8,15");
  EXPECT_EQ(in_order("package:all.core:0.pu:1", where), "8,12");
  EXPECT_EQ(in_order("core:odd", where), "1,3,5,7,9,11,13,15");
  EXPECT_EQ(in_order("l3:1.pu:0", where), "4");
  EXPECT_EQ(in_order("package:0 ~core:0", where), "1,2,3,9,10,11");
  EXPECT_EQ(in_order("package:0 xcore:3-4", where), "3,11");
  EXPECT_EQ(in_order("core:0-1 ^core:1-2", where), "0,2,8,10");
  EXPECT_EQ(in_order("machine", where), in_order("all", where));
  EXPECT_EQ(in_order("0x8001", where), "0,15");
  EXPECT_EQ(in_order("0x0,0x3", where), "0,1");
}

TEST(HwlocText, NamesNodes) {
  machine mixed = two_packages();
  mixed.nodes.push_back({node_id{2}, {}, 1U << 30, memory_kind::hbm});
  mixed.nodes[0].kind = mixed.nodes[1].kind = memory_kind::dram;
  const topology where{mixed};
  EXPECT_EQ(memory("numa:1", where), "0") << "a node near to all processors stands first";
  EXPECT_EQ(memory("numa[hbm]:0", where), "2");
  EXPECT_EQ(memory("HBM:0", where), "2");
  EXPECT_EQ(memory("numa[DRAM]:all", where), "0-1");
  EXPECT_EQ(memory("core:4", where), "1-2");
  EXPECT_EQ(processors("core:4", where), "1");
  EXPECT_EQ(processors("0x1", where), "0");
  EXPECT_THAT(refusal([&] { (void)processors("numa[hbm]:0", where); }),
              HasSubstr("node 2 has no processors, only memory"));
  EXPECT_THAT(cpu_refusal("numa[hbm]:0", where), HasSubstr("only memory"));
  EXPECT_THAT(cpu_refusal("numa[hbm]:0.core:0", where), HasSubstr("only memory"));
  EXPECT_EQ(in_order("numa:all.core:0.pu:0", where), "0,4") << "all leaves out what has none";
}

TEST(HwlocText, RefusesWhatIsNotThere) {
  const topology where{two_packages()};
  EXPECT_THAT(cpu_refusal("core:8", where), HasSubstr("there is no core:8 there: 8 in all"));
  EXPECT_THAT(cpu_refusal("core:6-8", where), HasSubstr("no core:8"));
  EXPECT_THAT(cpu_refusal("package:1.core:4", where), HasSubstr("4 in all"));
  EXPECT_THAT(cpu_refusal("0x10000", where), HasSubstr("no processor 16"));
  EXPECT_THAT(cpu_refusal("die:0", where), HasSubstr("such objects of this machine are unknown"));
  EXPECT_THAT(cpu_refusal("core[cpukind=1]:all", where),
              HasSubstr("the kinds of this machine's cores are unknown"));
  EXPECT_THAT(cpu_refusal("numa[hbm]:0", where),
              HasSubstr("the kinds of this machine's memory are unknown"));
  EXPECT_THAT(cpu_refusal("l2:0", where), HasSubstr("none that are known"));
  EXPECT_THAT(cpu_refusal("~core:0", where), HasSubstr("they select nothing"));
  EXPECT_THAT(cpu_refusal("core:0.package:0", where), HasSubstr("none at all"));
  for (const char* nonsense : {"core:",
                               "core:-1",
                               "core:3-1",
                               "core:0:",
                               "core:0:0",
                               "core:x",
                               "core:0.",
                               "core",
                               ".",
                               "core:0..pu:0",
                               "core:0,2",
                               "0x",
                               "0xg",
                               "0xff,",
                               "0x1,0x123456789",
                               "core:99999999999",
                               "~",
                               "x",
                               "^",
                               "~~core:0",
                               "root root2",
                               "numa[hbm:0",
                               "numa[]:0",
                               "core[hbm]:0",
                               " ",
                               "core=0",
                               "os=",
                               "pci=",
                               "pci=zz",
                               "l9:0",
                               "bridge:0",
                               "core:0 ",
                               "allcore:0"}) {
    const bool blank_behind = std::string_view(nonsense) == "core:0 ";
    EXPECT_EQ(cpu_refusal(nonsense, where).empty(), blank_behind) << nonsense;
  }
}

TEST(HwlocText, HonoursWhatIsAllowed) {
  const topology where(two_packages(), cpu_set::parse("2-5,10-13"), {node_id{0}, node_id{1}});
  EXPECT_EQ(in_order("core:2", where), "2,10") << "counted over all that there is";
  EXPECT_EQ(in_order("package:0", where), "2,3,10,11") << "what of it is allowed";
  EXPECT_EQ(in_order("core:all", where), "2,3,4,5,10,11,12,13");
  EXPECT_EQ(in_order("root ~core:2-3", where), "4,5,12,13");
  EXPECT_THAT(cpu_refusal("core:0", where),
              HasSubstr("core:0 (processors 0,8) exists, but this process may only use 2-5,10-13"));
  EXPECT_THAT(cpu_refusal("0x5", where), HasSubstr("processor 0 exists"));
  EXPECT_THAT(cpu_refusal("core:0 core:2", where), HasSubstr("may only use"));
}

TEST(LikwidText, KeepsItsOrderAndWhatItNamesTwice) {
  const topology where{two_packages()};
  EXPECT_EQ(in_order("S1:0-1@S0:0-1", where), "4,5,0,1");
  EXPECT_EQ(in_order("S0:3-0", where), "3,2,1,0");
  EXPECT_EQ(in_order("S0:0,0", where), "0,0");
  EXPECT_EQ(in_order("S0:4-5", where), "8,9") << "first all first hardware threads";
  EXPECT_EQ(in_order("S1", where), "4,12,5,13,6,14,7,15") << "core by core";
  EXPECT_EQ(in_order("E:N:4:1:2", where), "0,1,2,3");
  EXPECT_EQ(in_order("E:N:4:2:4", where), "0,8,2,10");
  EXPECT_EQ(in_order("E:S0:10", where), "0,8,1,9,2,10,3,11,0,8") << "around";
  EXPECT_EQ(in_order("M:scatter:4", where), "0,4,1,5");
  EXPECT_EQ(in_order("S:balanced:4", where), "0,8,4,12");
  EXPECT_EQ(in_order("S:cbalanced:4", where), "0,1,4,5");
  EXPECT_EQ(in_order("S0:cbalanced:5", where), "0,8,1,2,3");
  EXPECT_EQ(in_order("L:0-3", where), in_order("N:0-3", where));
  EXPECT_EQ(in_order("D1:0", where), "4");
  EXPECT_EQ(in_order("C1:0", where), "4");
  EXPECT_EQ(in_order("9,8@S1:0", where), "8,9,4") << "plain numbers are numactl's here too";
}

TEST(LikwidText, DealsAllOfACountToUnevenDomains) {
  machine uneven = grid(1, 6);
  uneven.packages.push_back({0, cpu_set::parse("0")});
  uneven.packages.push_back({1, cpu_set::parse("1-5")});
  const topology where{uneven};
  EXPECT_EQ(in_order("S:balanced:4", where), "0,1,2,3");
  EXPECT_EQ(in_order("S:scatter", where), "0,1,2,3,4,5");
  EXPECT_EQ(in_order("S:cbalanced:6", where), "0,1,2,3,4,5");
}

TEST(LikwidText, CountsWithinWhatIsAllowed) {
  const topology where(two_packages(), cpu_set::parse("2-5,10-13"), {node_id{0}, node_id{1}});
  EXPECT_EQ(in_order("S0:0", where), "2");
  EXPECT_EQ(in_order("N:0-3", where), "2,3,4,5");
  EXPECT_EQ(in_order("E:S1:2", where), "4,12");
  const topology first(two_packages(), cpu_set::parse("0-3"), {node_id{0}});
  EXPECT_THAT(cpu_refusal("S1:0", first), HasSubstr("no allowed processor is in S1"));
  EXPECT_EQ(in_order("M:scatter", first), "0,1,2,3");
}

TEST(LikwidText, RefusesWhatIsNotThere) {
  const topology where{two_packages()};
  EXPECT_THAT(cpu_refusal("S0:8", where), HasSubstr("counted from 0 to 7"));
  EXPECT_THAT(cpu_refusal("S2:0", where), HasSubstr("no domain S2, only S0 to S1"));
  EXPECT_THAT(cpu_refusal("M:scatter:17", where), HasSubstr("have only 16 processors"));
  EXPECT_THAT(cpu_refusal("S:0", where), HasSubstr("is a kind of domain, not one domain"));
  EXPECT_THAT(cpu_refusal("C0", topology{grid(2, 2)}), HasSubstr("domains are unknown"));
  for (const char* nonsense : {"S0:",
                               "S0:-",
                               "S0:0-",
                               "S0:0--1",
                               "S0:x",
                               "S0:0,",
                               "S0:0@",
                               "@",
                               "@S0:0",
                               "E:",
                               "E:N:0",
                               "E:N:x",
                               "E:N:4:2",
                               "E:N:4:0:1",
                               "E:N:99999",
                               "E:N:1:1:1:16",
                               "E:N:1:1:1:1:1",
                               "E:Q:1",
                               "L:",
                               "L:S0",
                               "L:S0:0:0",
                               "S0:0:0",
                               "M:scatter:0",
                               "M:scatter:2:2",
                               "M:shuffle",
                               "S",
                               "NN",
                               "N0:0",
                               "S00000000000000000000:0",
                               "0-1@7"}) {
    const bool fine = std::string_view(nonsense) == "0-1@7";
    EXPECT_EQ(cpu_refusal(nonsense, where).empty(), fine) << nonsense;
  }
}

TEST(LikwidText, NamesNodes) {
  machine mixed = two_packages();
  mixed.nodes[0].logical = 0;
  mixed.nodes[1].logical = 1;
  mixed.nodes.push_back({node_id{2}, {}, 1U << 30, memory_kind::cxl, 2});
  const topology where{mixed};
  EXPECT_EQ(memory("M1", where), "1");
  EXPECT_EQ(memory("M0@M2", where), "0,2");
  EXPECT_EQ(memory("S1:0-3", where), "1");
  EXPECT_EQ(processors("N:0,4", where), "0-1");
  EXPECT_THAT(refusal([&] { (void)processors("M2", where); }), HasSubstr("no processors"));
  EXPECT_THAT(refusal([&] { (void)memory("M3", where); }), HasSubstr("only M0 to M2"));
  EXPECT_THAT(cpu_refusal("M2:0", where), HasSubstr("no allowed processor is in M2"));
}

/// The machine that docs/specs.md draws.
topology drawn_machine() {
  machine drawn = two_packages();
  drawn.devices.push_back({"eth0", "network", "0000:3b:00.0", {node_id{1}}});
  return topology{drawn};
}

/// The cells of a row of a table, without blanks and quotes.
std::vector<std::string> cells(const std::string& row) {
  std::vector<std::string> found;
  std::istringstream all(row.substr(1));
  for (std::string cell; std::getline(all, cell, '|');) {
    const std::size_t first = cell.find_first_not_of(" `");
    const std::size_t last = cell.find_last_not_of(" `");
    found.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return found;
}

TEST(Manual, SaysWhatTextsName) {
  std::ifstream manual(NODEWISE_TEST_MANUAL);
  const topology where = drawn_machine();
  std::size_t rows = 0;
  bool in_table = false;
  for (std::string line; std::getline(manual, line);) {
    in_table = line.starts_with("| text |") || (in_table && line.starts_with('|'));
    if (!in_table || !line.starts_with("| `")) {
      continue;
    }
    ++rows;
    const std::vector<std::string> row = cells(line);
    ASSERT_EQ(row.size(), 3U) << line;
    EXPECT_EQ(in_order(row[0], where), row[1]) << line;
    if (!row[2].empty()) {
      EXPECT_EQ(memory(row[0], where), node_set::parse(row[2]).to_string()) << line;
    }
  }
  EXPECT_GT(rows, 30U) << NODEWISE_TEST_MANUAL;
}

} // namespace
} // namespace nodewise::spec
