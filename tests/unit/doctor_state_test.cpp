// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/topology.hpp>

#include "unit/fake_system.hpp"

namespace nodewise::doctor {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

finding state(fake_system& who, const std::string& name, const machine* here = nullptr) {
  return named(examine_state(who, here), name);
}

/// A node's memory in MiB; `kept`: page cache that cannot be given up.
void set_memory(fake_system& who, int node, int total, int free, int evictable, int kept = 0) {
  const std::string n = "Node " + std::to_string(node) + " ";
  const auto kb = [](int mebibytes) { return std::to_string(mebibytes * 1024) + " kB\n"; };
  who.files["/sys/devices/system/node/node" + std::to_string(node) + "/meminfo"] =
      n + "MemTotal:  " + kb(total) + n + "MemFree:  " + kb(free) + n +
      "Active(file):  " + kb(evictable / 2) + n +
      "Inactive(file):  " + kb(evictable - evictable / 2) + n +
      "FilePages:  " + kb(evictable + kept);
}

class of_two_nodes : public fake_system {
 public:
  of_two_nodes() {
    two_nodes();
    files["/proc/sys/vm/zone_reclaim_mode"] = "0";
    set_memory(*this, 0, 1024, 512, 100);
    set_memory(*this, 2, 1024, 512, 100);
  }
};

TEST(DoctorState, PageCacheInTheWay) {
  of_two_nodes who;
  EXPECT_EQ(state(who, "free_memory_node_0").found, "512 MiB of 1024 MiB, page cache 100 MiB");
  EXPECT_EQ(state(who, "free_memory_node_0").verdict, verdict::good);
  set_memory(who, 2, 1024, 100, 800);
  const finding full = state(who, "free_memory_node_2");
  EXPECT_EQ(full.verdict, verdict::warning);
  EXPECT_THAT(full.found, AllOf(HasSubstr("100 MiB of 1024 MiB, page cache 800 MiB"),
                                HasSubstr("beyond 100 MiB comes from other nodes")));
  EXPECT_THAT(full.cure, HasSubstr("nodewise drop-cache --nodes 2"));
  set_memory(who, 2, 1024, 450, 449);
  EXPECT_EQ(state(who, "free_memory_node_2").verdict, verdict::good) << "half of it";
  set_memory(who, 2, 1024, 100, 0, 800);
  EXPECT_THAT(state(who, "free_memory_node_2").cure, Not(HasSubstr("drop-cache")))
      << "files in memory alone cannot be swept";
}

TEST(DoctorState, PageCacheGivesWayWhereTheKernelLooksAtOneNodeFirst) {
  of_two_nodes who;
  set_memory(who, 2, 1024, 100, 800);
  who.files["/proc/sys/vm/zone_reclaim_mode"] = "1";
  EXPECT_EQ(state(who, "free_memory_node_2").verdict, verdict::good) << "cache goes first";
  who.files.erase("/proc/sys/vm/zone_reclaim_mode");
  EXPECT_EQ(state(who, "free_memory_node_2").verdict, verdict::good)
      << "not known to be in the way";
  who.files["/proc/sys/vm/zone_reclaim_mode"] = "0";
  who.allow("2-3", "2");
  EXPECT_EQ(state(who, "free_memory_node_2").verdict, verdict::good) << "there is no other node";
  EXPECT_THAT(state(who, "free_memory_node_0").found, HasSubstr("not available to this process"));
}

TEST(DoctorState, ANodeNearlyFull) {
  of_two_nodes who;
  set_memory(who, 0, 1000, 20, 30);
  EXPECT_THAT(state(who, "free_memory_node_0").found, Not(HasSubstr("nearly full"))) << "5 %";
  set_memory(who, 0, 1000, 20, 29);
  const finding full = state(who, "free_memory_node_0");
  EXPECT_EQ(full.verdict, verdict::warning);
  EXPECT_THAT(full.found, HasSubstr("nearly full, memory touched beyond 49 MiB comes from other"));
  who.allow("0-1", "0");
  EXPECT_THAT(state(who, "free_memory_node_0").found,
              HasSubstr("may make the kernel kill a program"));
  who.files["/proc/meminfo"] = "SwapTotal:    8388608 kB\n";
  EXPECT_THAT(state(who, "free_memory_node_0").found, HasSubstr("causes swapping"));
}

TEST(DoctorState, WhatTheKernelKeepsForItselfIsNotFree) {
  of_two_nodes who;
  set_memory(who, 0, 1000, 100, 0);
  EXPECT_EQ(state(who, "free_memory_node_0").verdict, verdict::good);
  // 20 and 35 MiB in pages of 4 KiB.
  who.files["/proc/zoneinfo"] =
      "Node 0, zone    DMA32\n  per-node stats\n      nr_low 7\n"
      "  pages free     5000\n        min      1\n        low      5120\n"
      "        high     9\nNode 0, zone   Normal\n  pages free     2\n"
      "        low      8960\nNode 2, zone   Normal\n        low      1\n";
  EXPECT_THAT(state(who, "free_memory_node_0").found,
              AllOf(HasSubstr("100 MiB of 1000 MiB"), HasSubstr("beyond 45 MiB")));
  who.files["/proc/zoneinfo"] = "Node 0, zone DMA32\n low 99999999\n";
  EXPECT_THAT(state(who, "free_memory_node_0").found, HasSubstr("beyond 0 MiB"));
  who.files["/proc/zoneinfo"] = "Node x\n low 99999999\nlow\n";
  EXPECT_EQ(state(who, "free_memory_node_0").verdict, verdict::good);
}

TEST(DoctorState, WhatCannotBeReadIsUnavailable) {
  of_two_nodes who;
  who.files["/sys/devices/system/node/node0/meminfo"] = "Node 0 MemTotal: much\n";
  who.refuse["get_mempolicy"] = ENOSYS;
  for (const char* const name : {"free_memory_node_0", "fragmentation_node_0", "memory_policy",
                                 "distances", "firmware_nodes", "memory_of_processors"}) {
    EXPECT_EQ(state(who, name).verdict, verdict::unavailable) << name;
  }
  fake_system blind;
  for (const finding& f : examine_state(blind, nullptr)) {
    if (f.name != "memory_policy") {
      EXPECT_EQ(f.verdict, verdict::unavailable) << f.name;
    }
  }
}

TEST(DoctorState, ThePolicyThatIsInherited) {
  of_two_nodes who;
  EXPECT_THAT(state(who, "memory_policy").found, HasSubstr("default"));
  who.policy = sys::policy::interleave;
  EXPECT_THAT(state(who, "memory_policy").found, HasSubstr("interleave, inherited"));
}

TEST(DoctorFragmentation, ShareOfFreeMemoryInLargeBlocks) {
  of_two_nodes who;
  // 2 MiB are blocks of order 9. Node 0: 1 + 512 + 1024 pages in two zones; node 2: 1024 and 1024.
  who.files["/proc/buddyinfo"] = "Node 0, zone      DMA      1      0      0      0      0      0  "
                                 "    0      0      0      1      0 \n"
                                 "Node 0, zone   Normal      0      0      0      0      0      0  "
                                 "    0      0      0      0      1 \n"
                                 "Node 2, zone   Normal   1024      0      0      0      0      0  "
                                 "    0      0      0      0      1 ";
  EXPECT_EQ(state(who, "fragmentation_node_0").found,
            "99 % of free memory is in blocks of 2048 KiB or more");
  EXPECT_EQ(state(who, "fragmentation_node_2").verdict, verdict::good) << "half of it";
  std::string& text = who.files["/proc/buddyinfo"];
  text.replace(text.find("1024"), 4, "1025");
  const finding f = state(who, "fragmentation_node_2");
  EXPECT_EQ(f.verdict, verdict::warning);
  EXPECT_THAT(f.found, HasSubstr("49 % of free memory"));
  EXPECT_THAT(f.cure, HasSubstr("/sys/devices/system/node/node2/compact"));
  who.files["/sys/kernel/mm/transparent_hugepage/enabled"] = "always madvise [never]";
  EXPECT_EQ(state(who, "fragmentation_node_2").verdict, verdict::good) << "nobody wants any";
}

TEST(DoctorFragmentation, NonsenseIsUnavailable) {
  of_two_nodes who;
  for (const char* const text :
       {"", "Node 0", "Node 0, zone", "Node 0, zone Normal", "Node 0, zone Normal -1",
        "Node x, zone Normal 1", "Node 0, zone Normal 1 many", "Node 0, zone Normal 0 0 0",
        "Node 0, zone Normal 99999999999999999999", "Node 99999999999, zone Normal 1"}) {
    who.files["/proc/buddyinfo"] = text;
    EXPECT_EQ(state(who, "fragmentation_node_0").verdict, verdict::unavailable) << text;
  }
}

// Machines

machine made_up(std::size_t nodes, std::size_t packages, std::vector<std::vector<int>> distances) {
  machine made;
  for (std::size_t i = 0; i < nodes; ++i) {
    memory_node node;
    node.id = node_id{static_cast<int>(i)};
    node.cpus = {cpu_id{static_cast<int>(i)}};
    node.memory_bytes = 1 << 30;
    made.nodes.push_back(node);
  }
  for (std::size_t i = 0; i < packages; ++i) {
    made.packages.push_back({static_cast<int>(i), {cpu_id{static_cast<int>(i)}}});
  }
  made.distances = std::move(distances);
  return made;
}

void measure(machine& on, const char* name, int from, int to, double value,
             const char* source = "measured on this machine") {
  on.parameters.push_back({name, node_id{from}, node_id{to}, value,
                           std::string(name) == "latency" ? "ns" : "GB/s", source});
}

TEST(DoctorFirmware, OneNodeThoughSeveralPackages) {
  EXPECT_EQ(examine_nodes(made_up(1, 2, {{10}}), "").verdict, verdict::warning);
  EXPECT_EQ(examine_nodes(made_up(1, 1, {{10}}), "").verdict, verdict::good);
  EXPECT_EQ(examine_nodes(made_up(2, 1, {}), "").verdict, verdict::good) << "sub-NUMA clusters";
  EXPECT_EQ(examine_nodes(made_up(1, 0, {}), "").verdict, verdict::unavailable);
  machine rest = made_up(1, 2, {{10}});
  rest.nodes.front().id = node_id{1};
  EXPECT_EQ(examine_nodes(rest, "").verdict, verdict::good) << "node 0 is offline";
}

/// What was recorded of another machine, as if it were this one.
class recorded : public fake_system {
 public:
  explicit recorded(const std::string& name) : root(NODEWISE_TEST_TREES "/" + name) {}
  std::string root;
  sys::answer<std::string> read_file(const char* path) override {
    return sys::real_kernel().read_file((root + path).c_str());
  }
};

/// Of "node 3" and "free_memory_node_3".
std::vector<node_id> nodes_named_in(const std::string& text) {
  constexpr std::string_view word = "node";
  std::vector<node_id> all;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t number = at + word.size() + 1;
    if (number < text.size() && text[number] >= '0' && text[number] <= '9' &&
        (text[number - 1] == ' ' || text[number - 1] == '_')) {
      all.push_back(node_id{std::stoi(text.substr(number))});
    }
  }
  return all;
}

TEST(DoctorRecorded, NothingIsSaidOfANodeThatIsNotThere) {
  for (const char* const name :
       {"16em64t-4s2c2t-offlines", "32amd64-4s2n4c-cgroup", "48amd64-4d2n6c-sparse",
        "8em64t-2s2ca2c-buggynuma", "fakeheteromemtiers", "offline-cpu0-node0"}) {
    SCOPED_TRACE(name);
    recorded who(name);
    const topology here = topology::from_sysfs(who.root);
    const node_set online = read_set<node_id>(who, "/sys/devices/system/node/online")
                                .value_or(here.machine().node_ids());
    EXPECT_FALSE(online.empty());
    auto all = examine_settings(who);
    std::ranges::move(examine_state(who, &here.machine()), std::back_inserter(all));
    for (const finding& f : all) {
      const std::string said = f.name + " " + f.found;
      for (const node_id node : nodes_named_in(said)) {
        EXPECT_TRUE(online.contains(node)) << said;
      }
    }
  }
}

TEST(DoctorRecorded, WithoutNodeZero) {
  recorded who("offline-cpu0-node0");
  const topology here = topology::from_sysfs(who.root);
  EXPECT_EQ(setting(who, "nodes_online").found, "1: one node, nothing to place here");
  EXPECT_EQ(setting(who, "nodes_has_memory").found, "1") << "the file lists node 0, too";
  EXPECT_EQ(state(who, "free_memory_node_1").found, "56556 MiB of 65536 MiB, page cache 203 MiB");
  EXPECT_THROW((void)state(who, "free_memory_node_0"), std::out_of_range);
  EXPECT_EQ(state(who, "firmware_nodes", &here.machine()).found,
            "1 node in 2 packages: other nodes are offline");
}

TEST(DoctorRecorded, MemoriesWithoutProcessorsAndWithoutDistances) {
  recorded who("fakeheteromemtiers");
  const topology here = topology::from_sysfs(who.root);
  EXPECT_EQ(setting(who, "nodes_has_cpu").found, "0-2");
  EXPECT_EQ(setting(who, "nodes_has_memory").found, "0-2,4,6,8-9");
  EXPECT_EQ(state(who, "distances", &here.machine()).verdict, verdict::warning) << "all 20";
}

TEST(DoctorFirmware, NodesByTheKernelsCommandLine) {
  const machine one = made_up(1, 2, {{10}});
  EXPECT_THAT(examine_nodes(one, "root=/dev/sda1 numa=off quiet").found, HasSubstr("numa=off"));
  EXPECT_THAT(examine_nodes(made_up(4, 1, {}), "numa=fake=4").found, HasSubstr("numa=fake=4"));
  EXPECT_EQ(examine_nodes(made_up(2, 2, {}), "xnuma=off numa_balancing=off").verdict,
            verdict::good);
}

TEST(DoctorFirmware, DistancesThatDoNotDistinguish) {
  const auto all = [](int remote) {
    return made_up(3, 3, {{10, remote, remote}, {remote, 10, remote}, {remote, remote, 10}});
  };
  EXPECT_EQ(examine_distances(all(20)).verdict, verdict::warning) << "what Linux assumes";
  EXPECT_EQ(examine_distances(all(10)).verdict, verdict::warning);
  EXPECT_EQ(examine_distances(all(21)).verdict, verdict::good) << "each linked to each";
  EXPECT_EQ(examine_distances(made_up(2, 2, {{10, 20}, {20, 10}})).verdict, verdict::good);
  EXPECT_EQ(examine_distances(made_up(2, 2, {{10, 10}, {10, 10}})).verdict, verdict::warning);
  EXPECT_EQ(examine_distances(made_up(2, 2, {})).verdict, verdict::unavailable);
  EXPECT_EQ(examine_distances(made_up(3, 3, {{10, 21, 31}, {21, 10, 21}, {31, 21, 10}})).found,
            "10 to 31");
}

TEST(DoctorMeasured, OrderOfCostsAgainstOrderOfDistances) {
  machine three = made_up(3, 3, {{10, 21, 31}, {21, 10, 21}, {31, 21, 10}});
  EXPECT_EQ(examine_measured(three).verdict, verdict::unavailable);
  measure(three, "latency", 0, 0, 100);
  measure(three, "latency", 0, 1, 160);
  measure(three, "latency", 0, 2, 220);
  measure(three, "bandwidth", 0, 0, 40);
  measure(three, "bandwidth", 0, 1, 20);
  measure(three, "bandwidth", 0, 2, 18);
  EXPECT_THAT(find_contradictions(three), testing::IsEmpty());
  EXPECT_EQ(examine_measured(three).verdict, verdict::good);
  measure(three, "latency", 1, 0, 250);
  measure(three, "latency", 1, 2, 160); // as near as node 0, they say
  measure(three, "latency", 1, 1, 300); // and the local one should be nearest
  const auto found = find_contradictions(three);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].from, node_id{1});
  EXPECT_EQ(found[0].near, node_id{0});
  EXPECT_EQ(found[0].far, node_id{2});
  EXPECT_EQ(found[1].near, node_id{1});
  EXPECT_EQ(found[1].far, node_id{2});
  EXPECT_THAT(examine_measured(three).found,
              HasSubstr("latency from node 1 is 250 ns to node 0 (distance 21), 160 ns to node 2 "
                        "(distance 21)"));
}

TEST(DoctorMeasured, BandwidthIsBetterWhereItIsMore) {
  machine hbm = made_up(2, 1, {{10, 31}, {31, 10}});
  measure(hbm, "bandwidth", 0, 0, 90);
  measure(hbm, "bandwidth", 0, 1, 400);
  ASSERT_EQ(find_contradictions(hbm).size(), 1U);
  EXPECT_EQ(find_contradictions(hbm).front().far, node_id{1});
  EXPECT_EQ(examine_measured(hbm).verdict, verdict::warning);
}

TEST(DoctorMeasured, ErrorsAndOtherSourcesContradictNothing) {
  machine two = made_up(2, 2, {{10, 21}, {21, 10}});
  measure(two, "latency", 0, 0, 120);
  measure(two, "latency", 0, 1, 100);
  EXPECT_THAT(find_contradictions(two), testing::IsEmpty()) << "10 % off both ways explains it";
  two.parameters.clear();
  measure(two, "latency", 0, 0, 300, "assumed");
  measure(two, "latency", 0, 1, 100, "HMAT");
  EXPECT_EQ(examine_measured(two).verdict, verdict::unavailable);
  two.parameters.clear();
  measure(two, "latency", 0, 0, 124);
  measure(two, "latency", 0, 1, 100);
  EXPECT_EQ(find_contradictions(two).size(), 1U);
  two.parameters.back().unit = "us";
  EXPECT_THAT(find_contradictions(two), testing::IsEmpty()) << "not to be compared";
  two.parameters.back().unit = "ns";
  two.distances.clear();
  EXPECT_EQ(examine_measured(two).verdict, verdict::unavailable);
}

TEST(DoctorMeasured, WhyWhatWasMeasuredIsNotUsed) {
  const unused_costs unused{"m.json is not used: it describes a machine with nodes 0-3", "measure"};
  machine two = made_up(2, 2, {{10, 21}, {21, 10}});
  EXPECT_EQ(examine_measured(two).found, "unavailable: costs are not measured");
  const finding aside = examine_measured(two, unused);
  EXPECT_EQ(aside.verdict, verdict::unavailable);
  EXPECT_EQ(aside.found, "unavailable: " + unused.why);
  EXPECT_EQ(aside.cure, unused.cure);
  of_two_nodes who;
  EXPECT_EQ(named(examine_state(who, &two, unused), "measured_distances").found, aside.found);
  const machine one = made_up(1, 1, {{10}});
  EXPECT_EQ(named(examine_state(who, &one, unused), "measured_distances").found, aside.found);
  EXPECT_THROW((void)state(who, "measured_distances", &one), std::out_of_range)
      << "one node's costs contradict nothing";
  surroundings here = around(who);
  here.here = two;
  here.unused = unused;
  EXPECT_EQ(named(examine(here).state, "measured_distances").found, aside.found);
}

TEST(DoctorMeasured, NoMoreThanThreeAreShown) {
  machine flat =
      made_up(4, 4, {{10, 20, 20, 20}, {20, 10, 20, 20}, {20, 20, 10, 20}, {20, 20, 20, 10}});
  for (int to = 0; to < 4; ++to) {
    measure(flat, "latency", 0, to, 400.0 / (to + 1));
  }
  ASSERT_EQ(find_contradictions(flat).size(), 6U);
  EXPECT_THAT(examine_measured(flat).found, HasSubstr("; and 3 more"));
}

TEST(DoctorReach, ProcessorsWithoutTheirMemory) {
  machine two = made_up(2, 2, {});
  allowance may;
  EXPECT_EQ(examine_reach(two, may).verdict, verdict::unavailable);
  may.cpus_allowed = {cpu_id{0}, cpu_id{1}};
  may.nodes_online = {node_id{0}, node_id{1}};
  may.nodes_with_memory = may.nodes_online;
  may.nodes_allowed = may.nodes_online;
  EXPECT_EQ(examine_reach(two, may).verdict, verdict::good);
  may.nodes_allowed = {node_id{1}};
  EXPECT_THAT(examine_reach(two, may).found,
              HasSubstr("processors of node 0 but not use the memory there"));
  may.cpus_allowed = {cpu_id{1}};
  EXPECT_EQ(examine_reach(two, may).verdict, verdict::good);
  may.cpus_allowed = {cpu_id{0}, cpu_id{1}};
  may.nodes_allowed = may.nodes_online;
  may.nodes_with_memory = {node_id{1}};
  EXPECT_THAT(examine_reach(two, may).found, HasSubstr("node 0, which has no memory"));
}

} // namespace
} // namespace nodewise::doctor
