// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/rank_share.hpp"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "unit/grid_machine.hpp"

namespace nodewise::launch {
namespace {

using test::grid;
using testing::ElementsAre;

std::map<std::string, std::string> variables;

const char* lookup(const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? nullptr : found->second.c_str();
}

std::vector<std::string> shares(const topology& where, place_kind kind, int ranks) {
  std::vector<std::string> all;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(share_of_rank(where, kind, {rank, ranks, ""}).cpus.to_string());
  }
  return all;
}

TEST(Ranks, FewerThanDomainsHaveOneEach) {
  const topology where{grid(4, 2)};
  EXPECT_THAT(shares(where, place_kind::nodes, 3), ElementsAre("0-1", "2-3", "4-5"));
  EXPECT_THAT(shares(where, place_kind::nodes, 4), ElementsAre("0-1", "2-3", "4-5", "6-7"));
}

TEST(Ranks, MoreThanDomainsShareThemInWholeCores) {
  const topology smt{grid(2, 4, 2)}; // node 0: cores {0,8} {1,9} {2,10} {3,11}
  EXPECT_THAT(shares(smt, place_kind::nodes, 4),
              ElementsAre("0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15"));
  // Three on the first node, two on the second.
  EXPECT_THAT(shares(topology{grid(2, 4)}, place_kind::nodes, 5),
              ElementsAre("0", "1", "2-3", "4-5", "6-7"));
}

/// One node for each number of cores.
machine uneven(const std::vector<int>& cores) {
  machine made;
  int cpu = 0;
  for (const int its : cores) {
    memory_node node;
    node.id = node_id{static_cast<int>(made.nodes.size())};
    node.memory_bytes = std::uint64_t{1} << 30;
    for (int c = 0; c < its; ++c, ++cpu) {
      made.cores.emplace_back().cpus.insert(cpu_id{cpu});
      node.cpus.insert(cpu_id{cpu});
    }
    made.nodes.push_back(node);
  }
  return made;
}

TEST(Ranks, NodesOfUnequalSizeHaveRanksInProportionToTheirCores) {
  const topology where{uneven({43, 43, 42})};
  EXPECT_THAT(shares(where, place_kind::nodes, 3), ElementsAre("0-42", "43-85", "86-127"));
  EXPECT_THAT(shares(where, place_kind::nodes, 6),
              ElementsAre("0-20", "21-42", "43-63", "64-85", "86-106", "107-127"));
  // With as many ranks as cores each has one, whichever node is the small one.
  for (const auto& sizes : std::vector<std::vector<int>>{{42, 43, 43}, {43, 42, 43}, {1, 8, 2}}) {
    const topology each{uneven(sizes)};
    const auto cores = static_cast<int>(each.allowed_cpus().size());
    for (int rank = 0; rank < cores; ++rank) {
      const rank_share share = share_of_rank(each, place_kind::nodes, {rank, cores, ""});
      EXPECT_EQ(share.cpus.to_string(), std::to_string(rank));
      EXPECT_FALSE(share.shares_core);
    }
  }
  EXPECT_THAT(shares(topology{uneven({6, 2})}, place_kind::nodes, 4),
              ElementsAre("0-1", "2-3", "4-5", "6-7"));
}

TEST(Ranks, MoreThanCoresShareOne) {
  const topology where{grid(1, 2)};
  EXPECT_THAT(shares(where, place_kind::nodes, 4), ElementsAre("0", "0", "1", "1"));
  const rank_share last = share_of_rank(where, place_kind::cores, {3, 4, ""});
  EXPECT_TRUE(last.shares_core);
  EXPECT_EQ(last.cores, 2U);
}

TEST(Ranks, OfUnknownNumberComeRound) {
  const topology where{grid(2, 2)};
  const auto first = share_of_rank(where, place_kind::nodes, {1, std::nullopt, ""});
  EXPECT_EQ(first.cpus.to_string(), "2-3");
  EXPECT_FALSE(first.came_round);
  const auto second = share_of_rank(where, place_kind::nodes, {3, std::nullopt, ""});
  EXPECT_EQ(second.cpus.to_string(), "2-3");
  EXPECT_TRUE(second.came_round);
}

TEST(Ranks, OnlyAllowedProcessorsAreDealtOut) {
  const topology where(grid(4, 2), {cpu_id{1}, cpu_id{6}, cpu_id{7}}, {});
  EXPECT_THAT(shares(where, place_kind::nodes, 2), ElementsAre("1", "6-7"));
  EXPECT_THAT(shares(where, place_kind::cores, 3), ElementsAre("1", "6", "7"));
}

std::string found() {
  const auto rank = find_local_rank(lookup);
  return !rank ? "none"
               : std::to_string(rank->number) + " of " +
                     (rank->count ? std::to_string(*rank->count) : "?");
}

TEST(LocalRank, IsTheLaunchersWithTheNumberOfRanks) {
  variables = {};
  EXPECT_EQ(found(), "none");
  variables = {{"MPI_LOCALRANKID", "2"}, {"MPI_LOCALNRANKS", "4"}};
  EXPECT_EQ(found(), "2 of 4");
  variables["SLURM_LOCALID"] = "1";
  EXPECT_EQ(found(), "1 of ?");
  variables["OMPI_COMM_WORLD_LOCAL_RANK"] = "0";
  variables["OMPI_COMM_WORLD_LOCAL_SIZE"] = "8";
  EXPECT_EQ(found(), "0 of 8");
  variables["OMPI_COMM_WORLD_LOCAL_RANK"] = "x";
  EXPECT_EQ(found(), "1 of ?") << "what is no number is not believed";
  variables = {{"PALS_LOCAL_RANKID", "3"}, {"PALS_LOCAL_SIZE", "2"}};
  EXPECT_EQ(found(), "3 of ?") << "a number of ranks that cannot be right is not believed";
}

TEST(LocalRank, OfSlurmIsCountedByTheListOfHosts) {
  variables = {{"SLURM_LOCALID", "1"}, {"SLURM_TASKS_PER_NODE", "4(x2),3"}};
  EXPECT_EQ(found(), "1 of 4");
  variables["SLURM_NODEID"] = "1";
  EXPECT_EQ(found(), "1 of 4");
  variables["SLURM_NODEID"] = "2";
  EXPECT_EQ(found(), "1 of 3");
  variables["SLURM_NODEID"] = "3";
  EXPECT_EQ(found(), "1 of ?");
  variables["SLURM_STEP_TASKS_PER_NODE"] = "2(x4)";
  EXPECT_EQ(found(), "1 of 2") << "the step's own counts";
  for (const char* const nonsense : {"", "x", "4(x", "4(x2", "4(x)", "-4", "4,,3", "(x2)"}) {
    variables["SLURM_STEP_TASKS_PER_NODE"] = nonsense;
    variables.erase("SLURM_TASKS_PER_NODE");
    EXPECT_EQ(found(), "1 of ?") << nonsense;
  }
}

/// Devices near these nodes, in order.
std::vector<device> devices_near(const std::vector<node_set>& nodes) {
  std::vector<device> all;
  for (const node_set& each : nodes) {
    all.push_back({"gpu" + std::to_string(all.size()), "gpu", "", each});
  }
  return all;
}

std::vector<std::string> shares_near(const topology& where, const std::vector<node_set>& nodes,
                                     int ranks) {
  std::vector<std::string> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const rank_share share =
        share_near_device(where, devices_near(nodes), "gpu", {rank, ranks, ""});
    EXPECT_EQ(share.device,
              "gpu gpu" + std::to_string(static_cast<std::size_t>(rank) % nodes.size()));
    all.push_back(share.cpus.to_string());
  }
  return all;
}

TEST(RanksNearDevices, DivideANodeThatSeveralDevicesAreNearTo) {
  const topology where{grid(4, 4)};
  const node_set one{node_id{1}};
  const node_set three{node_id{3}};
  EXPECT_THAT(shares_near(where, {three, one}, 2), ElementsAre("12-15", "4-7"));
  EXPECT_THAT(shares_near(where, {three, one}, 1), ElementsAre("12-15"));
  EXPECT_THAT(shares_near(where, {one, one, three}, 3), ElementsAre("4-5", "6-7", "12-15"));
  // Rank 2 has the first device again, as programs choose them: rank modulo devices.
  EXPECT_THAT(shares_near(where, {three, one}, 4), ElementsAre("12-13", "4-5", "14-15", "6-7"));
  EXPECT_THAT(shares_near(where, {one, one}, 3), ElementsAre("4", "6-7", "5"));
  const rank_share crowded = share_near_device(where, devices_near({one}), "gpu", {4, 5, ""});
  EXPECT_TRUE(crowded.shares_core);
  EXPECT_EQ(crowded.cores, 4U);
}

TEST(RanksNearDevices, LeaveANodeToTheDeviceThatIsNearer) {
  const topology where{grid(4, 2)};
  const node_set both{node_id{0}, node_id{1}};
  EXPECT_THAT(shares_near(where, {both, {node_id{1}}}, 2), ElementsAre("0-1", "2-3"));
  EXPECT_THAT(shares_near(where, {both, both}, 2), ElementsAre("0-1", "2-3"));
}

TEST(RanksNearDevices, AreRefusedWithoutADeviceOrItsNode) {
  const topology where{grid(2, 2)};
  EXPECT_THROW((void)shares_near(where, std::vector<node_set>(1), 1), error);
  EXPECT_THROW((void)share_near_device(where, {}, "gpu", {0, 1, ""}), error);
  const topology first(grid(2, 2), cpu_set::range(cpu_id{0}, cpu_id{1}), {node_id{0}});
  EXPECT_THROW((void)shares_near(first, {{node_id{1}}}, 1), error);
  const rank_share unknown =
      share_near_device(where, devices_near({{node_id{1}}}), "gpu", {1, std::nullopt, ""});
  EXPECT_TRUE(unknown.came_round);
}

} // namespace
} // namespace nodewise::launch
