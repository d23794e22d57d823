// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "recorded_machines.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include <unistd.h>

#include "../support/kept_variables.hpp"
#include "topology/hwloc_machine.hpp"

namespace nodewise::test {

namespace {

std::string figures_of(const machine& machine) {
  std::string text;
  for (const parameter& each : machine.parameters) {
    text += each.name + " " + std::to_string(to_int(each.from)) + ">" +
            std::to_string(to_int(each.to)) + " " + std::to_string(each.value) + " " + each.unit +
            "\n";
  }
  return text;
}

TEST(HwlocReader, ReadsFiguresFromEachNodeThatTheInitiatorCovers) {
  // One value, 20 MiB/s to node 1 from all eight processors; the attributes of other names are of
  // no meaning to anybody else.
  const topology read = load_recorded("8intel64-4n2t-memattrs.xml");
  EXPECT_EQ(figures_of(read.machine()),
            "bandwidth 0>1 0.020972 GB/s\nbandwidth 1>1 0.020972 GB/s\n"
            "bandwidth 2>1 0.020972 GB/s\nbandwidth 3>1 0.020972 GB/s\n");
  EXPECT_EQ(read.machine().parameters.front().source, "memory attributes recorded by hwloc");
}

TEST(HwlocReader, ReadsTheFiguresAndTiersOfAnHmat) {
  const topology read = load_recorded("fakeheteromemtiers");
  const machine& machine = read.machine();
  EXPECT_EQ(figures_of(machine), "bandwidth 0>0 1.048576 GB/s\nbandwidth 0>8 0.104858 GB/s\n"
                                 "bandwidth 1>1 1.048576 GB/s\nbandwidth 1>4 10.485760 GB/s\n"
                                 "bandwidth 1>6 0.104858 GB/s\nbandwidth 2>2 10.485760 GB/s\n"
                                 "bandwidth 2>9 0.104858 GB/s\n");
  EXPECT_EQ(machine.parameters.front().source, "HMAT");
  EXPECT_EQ(machine.find_node(node_id{0})->kind, memory_kind::dram);
  EXPECT_EQ(machine.find_node(node_id{2})->kind, memory_kind::hbm);
  EXPECT_EQ(machine.find_node(node_id{4})->kind, memory_kind::hbm);
  EXPECT_EQ(machine.find_node(node_id{9})->kind, memory_kind::other);
}

TEST(HwlocReader, CallsNoMemoryByAKindThatNobodyTold) {
  const topology knl = load_recorded("8intel64-knl-a2a-hybrid.xml");
  EXPECT_EQ(knl.machine().find_node(node_id{0})->kind, memory_kind::unknown);
  EXPECT_EQ(knl.machine().find_node(node_id{1})->kind, memory_kind::hbm);
  const topology ordinary = load_recorded("24em64t-2n6c2t-pci.xml");
  EXPECT_EQ(ordinary.machine().nodes.front().kind, memory_kind::unknown);
}

TEST(HwlocReader, TakesTheFirmwaresDistancesOfSeveralMatrices) {
  const topology read = load_recorded("fakeheterodistances.xml");
  const std::vector<int> first_row{10, 16, 16, 22, 16, 22, 16, 22};
  ASSERT_EQ(read.machine().distances.size(), 8U);
  EXPECT_EQ(read.machine().distances.front(), first_row);
  EXPECT_EQ(load_recorded("power8gpudistances.xml").distance(node_id{0}, node_id{1}), 40);
}

TEST(HwlocReader, PutsDistancesInTheOrderOfTheNodes) {
  // hwloc lists nodes 5 and 4 in this order.
  const topology read = load_recorded("16amd64-8n2c-cpusets.xml");
  for (const node_id from : read.machine().node_ids()) {
    for (const node_id to : read.machine().node_ids()) {
      EXPECT_EQ(read.distance(from, to), from == to ? 10 : 20);
    }
  }
}

TEST(HwlocReader, FindsDevicesAndTheirNodes) {
  const topology read = load_recorded("24em64t-2n6c2t-pci.xml");
  std::string text;
  for (const device& each : read.machine().devices) {
    text += each.name + " " + each.kind + " " + each.bus + " @" + each.nodes.to_string() + "\n";
  }
  EXPECT_NE(text.find("ib0 network 0000:05:00.0 @0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("mlx4_0 fabric 0000:05:00.0 @0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("sda storage 0000:00:1f.2 @0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("0000:14:00.0 gpu 0000:14:00.0 @1\n"), std::string::npos) << text;
  // The adapter of the management controller computes nothing.
  EXPECT_NE(text.find("0000:01:03.0 other 0000:01:03.0 @0\n"), std::string::npos) << text;
}

TEST(HwlocReader, FindsWhoSharesACache) {
  const topology read = load_recorded("96em64t-4n4d3ca2co-pci.xml");
  int shared_by_two = 0;
  int shared_by_six = 0;
  for (const cache& each : read.machine().caches) {
    shared_by_two += each.level == 2 && each.cpus.size() == 2 ? 1 : 0;
    shared_by_six += each.level == 3 && each.cpus.size() == 6 ? 1 : 0;
  }
  EXPECT_EQ(shared_by_two, 48);
  EXPECT_EQ(shared_by_six, 16);
}

TEST(HwlocReader, NotesAMemorySideCache) {
  const topology read = load_recorded("8intel64-knl-a2a-hybrid.xml");
  ASSERT_EQ(read.machine().notes.size(), 1U);
  EXPECT_NE(read.machine().notes.front().find("memory-side cache"), std::string::npos);
}

TEST(HwlocReader, LeavesTheEnvironmentAsItWas) {
  const kept_variables kept{"HWLOC_COMPONENTS", "HWLOC_FSROOT", "HWLOC_HIDE_ERRORS"};
  ::unsetenv("HWLOC_HIDE_ERRORS");
  ::setenv("HWLOC_COMPONENTS", "linux", 1);
  ::unsetenv("HWLOC_FSROOT");
  (void)load_recorded("48amd64-4d2n6c-sparse");
  EXPECT_STREQ(std::getenv("HWLOC_COMPONENTS"), "linux");
  EXPECT_EQ(std::getenv("HWLOC_FSROOT"), nullptr);
  EXPECT_EQ(std::getenv("HWLOC_HIDE_ERRORS"), nullptr);
}

// Another thread may be reading the environment: whoever sets a variable moves or changes it.
TEST(HwlocReader, DoesNotWriteToTheEnvironmentOfThisProcess) {
  char value[] = "HWLOC_PLUGINS_PATH=/nonexistent"; // a plug-in that leaks has no name afterwards
  char* own[] = {value, nullptr};
  char** const before = environ;
  environ = own;
  (void)topology::system();
  (void)topology::synthetic("2x2");
  (void)topology::from_xml(NODEWISE_TEST_DATA "/24em64t-2n6c2t-pci.xml");
  char** const after = environ;
  environ = before;
  EXPECT_EQ(after, own);
  EXPECT_EQ(own[0], value);
  EXPECT_EQ(own[1], nullptr);
}

TEST(HwlocReader, AddsTheNodesThatHwlocLeavesOut) {
  machine all;
  all.nodes = {{node_id{0}, {cpu_id{0}}, 100, memory_kind::dram, 0}};
  all.distances = {{10}};
  machine kernel;
  kernel.nodes = {{node_id{0}, {cpu_id{0}}, 100, memory_kind::unknown, -1},
                  {node_id{252}, {}, 50, memory_kind::unknown, -1}};
  kernel.distances = {{10, 40}, {40, 10}};
  topology_detail::add_nodes_left_out(all, kernel);
  ASSERT_EQ(all.nodes.size(), 2U);
  EXPECT_EQ(all.nodes[0].kind, memory_kind::dram);
  EXPECT_EQ(all.nodes[1].id, node_id{252});
  EXPECT_EQ(all.nodes[1].kind, memory_kind::gpu);
  EXPECT_EQ(all.nodes[1].memory_bytes, 50U);
  EXPECT_EQ(all.distance(node_id{0}, node_id{252}), 40);
}

TEST(HwlocReader, SaysWhenAVariablePutsAnotherMachineInPlaceOfThisOne) {
  const kept_variables kept{"HWLOC_XMLFILE"};
  ::setenv("HWLOC_XMLFILE", NODEWISE_TEST_DATA "/24em64t-2n6c2t-pci.xml", 1);
  const topology read = topology::system();
  EXPECT_EQ(read.machine().cpus().size(), 24U);
  EXPECT_EQ(read.allowed_cpus().size(), 24U);
  ASSERT_FALSE(read.machine().notes.empty());
}

TEST(SyntheticMachine, IsNodesTimesCoresTimesThreads) {
  const topology read = topology::synthetic("4x2x2");
  EXPECT_EQ(read.machine().nodes.size(), 4U);
  EXPECT_EQ(read.machine().packages.size(), 4U);
  EXPECT_EQ(read.machine().cores.size(), 8U);
  EXPECT_EQ(read.machine().cpus().size(), 16U);
  EXPECT_EQ(read.memory_nodes().size(), 4U);
  EXPECT_EQ(topology::synthetic("4x2").machine().cpus().size(), 8U);
  EXPECT_EQ(topology::synthetic("1x1").machine().nodes.size(), 1U);
}

TEST(SyntheticMachine, MayBeWrittenAsHwlocWritesIt) {
  EXPECT_EQ(topology::synthetic("numa:2 core:4 pu:1").machine().cores.size(), 8U);
  EXPECT_EQ(topology::synthetic("pack:2 [numa(memory=16GB)] core:3 pu:2").machine().nodes.size(),
            2U);
  EXPECT_EQ(topology::synthetic("2 3 4").machine().cpus().size(), 24U);
}

TEST(SyntheticMachine, MayHaveMoreThan1024Processors) {
  EXPECT_EQ(topology::synthetic("64x32").machine().cpus().size(), 2048U);
}

} // namespace

} // namespace nodewise::test
