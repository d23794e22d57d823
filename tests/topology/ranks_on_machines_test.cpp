// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The parts of MPI ranks on every recorded machine.
#include "recorded_machines.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "launch/plan.hpp"
#include "launch/rank_share.hpp"
#include "spec/device_kinds.hpp"

namespace nodewise::test {

namespace {

class RanksOn : public testing::TestWithParam<recorded_machine> {};

INSTANTIATE_TEST_SUITE_P(Machines, RanksOn, testing::ValuesIn(recorded_machines()),
                         test_name<testing::TestParamInfo<recorded_machine>>);

std::size_t cores_in(const topology& where, const cpu_set& cpus) {
  return topology(where.machine(), cpus, where.allowed_nodes()).places(place_kind::cores).size();
}

/// As many ranks as parts, as cores, and some numbers between.
std::vector<int> numbers_of_ranks(std::size_t parts, std::size_t cores) {
  std::vector<int> numbers;
  for (const std::size_t each : {parts, parts + 1, 2 * parts, 3 * parts + 2, cores / 2 + 1,
                                 cores - std::min<std::size_t>(cores, 1), cores}) {
    if (each >= parts && each <= cores) {
      numbers.push_back(static_cast<int>(each));
    }
  }
  return numbers;
}

TEST_P(RanksOn, EachHasCoresOfItsOwnInOnePart) {
  const topology where = GetParam().load();
  std::vector<cpu_set> nodes;
  std::size_t cores = 0;
  for (const domain& each : where.domains()) {
    nodes.push_back(each.cpus);
    cores += cores_in(where, each.cpus);
  }
  for (const int ranks : numbers_of_ranks(nodes.size(), cores)) {
    cpu_set dealt;
    std::vector<std::vector<std::size_t>> sizes(nodes.size());
    for (int rank = 0; rank < ranks; ++rank) {
      const auto share = launch::share_of_rank(where, place_kind::nodes, {rank, ranks, ""});
      ASSERT_FALSE(share.cpus.empty()) << rank << " of " << ranks;
      EXPECT_FALSE(share.shares_core || share.came_round) << rank << " of " << ranks;
      EXPECT_FALSE(dealt.intersects(share.cpus)) << rank << " of " << ranks;
      dealt = dealt | share.cpus;
      const auto node = std::ranges::find_if(
          nodes, [&](const cpu_set& each) { return each.includes(share.cpus); });
      ASSERT_NE(node, nodes.end()) << rank << " of " << ranks;
      sizes[static_cast<std::size_t>(node - nodes.begin())].push_back(cores_in(where, share.cpus));
    }
    for (const auto& each : sizes) {
      ASSERT_FALSE(each.empty()) << ranks;
      const auto [least, most] = std::ranges::minmax(each);
      EXPECT_LE(most - least, 1U) << ranks;
    }
  }
}

launch::plan plan_of_rank(launch::run_options options, const topology& where, int rank, int ranks) {
  options.ranks_per = place_kind::nodes;
  options.as_rank = local_rank{rank, ranks, ""};
  options.command = {"/bin/true"};
  return launch::make_plan(options, where, [](const char*) -> const char* { return nullptr; });
}

/// The wrapper of HLRS: numactl --cpunodebind=N --membind=N, with N the local rank.
TEST_P(RanksOn, NodeAndMemoryAreWhatNumactlBindsTo) {
  const topology where = GetParam().load();
  launch::run_options ours;
  ours.rank_memory = true;
  const auto domains = where.domains();
  const int ranks = static_cast<int>(domains.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const node_id node = domains[static_cast<std::size_t>(rank)].node;
    launch::run_options theirs;
    theirs.cpu_nodes = {fmt::format("{}", node), "-N"};
    theirs.memory = launch::numactl_choice(placements::kind::bind, theirs.cpu_nodes->text, "-m");
    theirs.command = {"/bin/true"};
    if (!where.memory_nodes().contains(node)) {
      EXPECT_THROW((void)plan_of_rank(ours, where, rank, ranks), error) << to_int(node);
      EXPECT_THROW((void)launch::make_plan(theirs, where), error) << to_int(node);
      continue;
    }
    const launch::plan made = plan_of_rank(ours, where, rank, ranks);
    EXPECT_EQ(made.affinity, where.machine().find_node(node)->cpus & where.allowed_cpus())
        << to_int(node);
    EXPECT_EQ(made.memory, (launch::memory_policy{sys::policy::bind, {node}})) << to_int(node);
    const launch::plan numactls = launch::make_plan(theirs, where);
    EXPECT_EQ(made.affinity, numactls.affinity) << to_int(node);
    EXPECT_EQ(made.memory, numactls.memory) << to_int(node);
  }
}

std::vector<std::string> shares_near(const topology& where, const char* kind, int ranks) {
  std::vector<std::string> all;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(launch::share_near_device(where, spec::devices_of_kind(kind, where), kind,
                                            {rank, ranks, ""})
                      .cpus.to_string());
  }
  return all;
}

/// The machine has one GPU at node 0 (processors 0-5 and 12-17), two at node 1, and InfiniBand at
/// node 0.
TEST(RanksNearDevices, AreOnTheNodeThatTheRecordedMachineReports) {
  const topology where = load_recorded("24em64t-2n6c2t-pci.xml");
  const std::string first = where.machine().nodes[0].cpus.to_string();
  EXPECT_EQ(shares_near(where, "gpu", 1), std::vector{first});
  const auto three = shares_near(where, "gpu", 3);
  EXPECT_EQ(three[0], first);
  for (std::size_t rank : {1U, 2U}) {
    const cpu_set its = cpu_set::parse(three[rank]);
    EXPECT_EQ(its.size(), 6U) << "half of the node";
    EXPECT_TRUE(where.machine().nodes[1].cpus.includes(its)) << its.to_string();
  }
  EXPECT_NE(three[1], three[2]);
  EXPECT_EQ(shares_near(where, "fabric", 1), std::vector{first});
  EXPECT_THROW((void)shares_near(load_recorded("192em64t-24n8c2t.xml"), "gpu", 1), error);
}

} // namespace

} // namespace nodewise::test
