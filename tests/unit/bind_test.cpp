// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/team_layout.hpp>

#include <algorithm>
#include <map>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "unit/grid_machine.hpp"

namespace nodewise {
namespace {

using test::grid;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<int> cpus_of(const team_layout& layout) {
  std::vector<int> cpus;
  for (const thread_place& thread : layout.threads()) {
    cpus.push_back(thread.cpu ? to_int(*thread.cpu) : -1);
  }
  return cpus;
}

std::vector<int> nodes_of(const team_layout& layout) {
  std::vector<int> nodes;
  for (const thread_place& thread : layout.threads()) {
    nodes.push_back(to_int(thread.node));
  }
  return nodes;
}

TEST(TeamLayout, CloseFillsOneNodeAfterTheOther) {
  const team_layout layout(topology(grid(2, 4)), bind_policy::close, 5);
  EXPECT_THAT(cpus_of(layout), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(nodes_of(layout), ElementsAre(0, 0, 0, 0, 1));
}

TEST(TeamLayout, SpreadGivesEachNodeConsecutiveThreads) {
  const team_layout layout(topology(grid(2, 4)), bind_policy::spread, 4);
  EXPECT_THAT(cpus_of(layout), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(nodes_of(layout), ElementsAre(0, 0, 1, 1));
}

TEST(TeamLayout, SpreadOfFewerThreadsThanNodesTakesTheFirstNodeOfEachPart) {
  const team_layout layout(topology(grid(4, 2)), bind_policy::spread, 2);
  EXPECT_THAT(nodes_of(layout), ElementsAre(0, 2));
}

TEST(TeamLayout, ThreadsThatDoNotDivideGoToTheFirstNodes) {
  const team_layout layout(topology(grid(3, 4)), bind_policy::spread, 7);
  EXPECT_THAT(nodes_of(layout), ElementsAre(0, 0, 0, 1, 1, 2, 2));
}

TEST(TeamLayout, AThreadOnEveryCoreIsTheSameCloseAndSpread) {
  for (const auto& machine : {grid(2, 4), grid(4, 2, 2), grid(1, 8, 4), grid(3, 5)}) {
    const topology where{machine};
    const team_layout close(where, bind_policy::close);
    const team_layout spread(where, bind_policy::spread);
    EXPECT_EQ(close.size(), machine.cores.size());
    EXPECT_EQ(cpus_of(close), cpus_of(spread));
  }
}

TEST(TeamLayout, CoresComeBeforeSecondHardwareThreads) {
  const topology where{grid(2, 2, 2)}; // cores {0,4} {1,5} | {2,6} {3,7}
  EXPECT_THAT(cpus_of(team_layout(where, bind_policy::close, 4)), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(cpus_of(team_layout(where, bind_policy::close, 5)), ElementsAre(0, 4, 1, 2, 3));
  EXPECT_THAT(cpus_of(team_layout(where, bind_policy::spread, 6)), ElementsAre(0, 4, 1, 2, 6, 3));
  EXPECT_THAT(cpus_of(team_layout(where, bind_policy::close, 8)),
              ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
}

TEST(TeamLayout, NodesOfUnequalSizeAreFilledAsFarAsTheyGo) {
  machine lopsided = grid(2, 4);
  lopsided.nodes[0].cpus = cpu_set::range(cpu_id{0}, cpu_id{0});
  lopsided.nodes[1].cpus = cpu_set::range(cpu_id{1}, cpu_id{7});
  const topology where{lopsided};
  EXPECT_THAT(nodes_of(team_layout(where, bind_policy::spread, 4)), ElementsAre(0, 1, 1, 1));
  EXPECT_EQ(team_layout(where, bind_policy::spread, 8).owners().size(), 8U);
}

TEST(TeamLayout, OnlyAllowedProcessorsAreUsed) {
  const topology where(grid(2, 4), {cpu_id{1}, cpu_id{3}, cpu_id{6}}, {node_id{0}, node_id{1}});
  const team_layout layout(where, bind_policy::close);
  EXPECT_THAT(cpus_of(layout), ElementsAre(1, 3, 6));
  EXPECT_EQ(layout.cpus().to_string(), "1,3,6");
}

TEST(TeamLayout, NodesAreTheOperatingSystemsNumbers) {
  const team_layout layout(topology(grid(2, 2, 1, {3, 255})), bind_policy::close);
  EXPECT_THAT(layout.owners(), ElementsAre(node_id{3}, node_id{3}, node_id{255}, node_id{255}));
}

TEST(TeamLayout, MoreThreadsThanProcessorsShareThemWithTheirNeighbours) {
  const team_layout layout(topology(grid(2, 1)), bind_policy::close, 4);
  EXPECT_THAT(cpus_of(layout), ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(layout.threads_per_cpu(), 2U);
  EXPECT_EQ(layout.omp_places(), "{0},{0},{1},{1}");
  EXPECT_EQ(team_layout(topology(grid(2, 2)), bind_policy::close, 4).threads_per_cpu(), 1U);
}

TEST(TeamLayout, IsWrittenAsOpenMPReadsIt) {
  const team_layout layout(topology(grid(2, 2)), bind_policy::spread, 2);
  EXPECT_EQ(layout.omp_places(), "{0},{2}");
  EXPECT_EQ(layout.omp_proc_bind(), "spread");
  EXPECT_EQ(layout.omp_num_threads(), "2");
}

TEST(TeamLayout, UnboundThreadsHaveNoNodeUnlessThereIsOnlyOne) {
  const team_layout two(topology(grid(2, 2)), bind_policy::none, 3);
  EXPECT_THAT(nodes_of(two), ElementsAre(-1, -1, -1));
  EXPECT_THAT(two.omp_places(), IsEmpty());
  EXPECT_EQ(two.omp_proc_bind(), "false");
  EXPECT_EQ(two.cpus().to_string(), "0-3");
  EXPECT_THROW((void)two.owners(), error);

  const team_layout one(topology(grid(1, 2)), bind_policy::none, 2);
  EXPECT_THAT(one.owners(), ElementsAre(node_id{0}, node_id{0}));
}

TEST(TeamLayout, ProcessorsThatNoNodeClaimsAreNotUsed) {
  machine partly = grid(1, 4);
  partly.nodes[0].cpus = cpu_set::range(cpu_id{0}, cpu_id{2});
  EXPECT_EQ(team_layout(topology(partly), bind_policy::close).cpus().to_string(), "0-2");
  EXPECT_EQ(team_layout(topology(partly), bind_policy::none).threads()[0].node, unknown_node);
}

TEST(TeamLayout, WithoutAProcessorThereIsNoLayout) {
  EXPECT_THROW(team_layout(topology(grid(1, 2), {}, {node_id{0}}), bind_policy::close), error);
  machine memory_only = grid(1, 2);
  memory_only.nodes[0].cpus = {};
  EXPECT_THROW(team_layout(topology(memory_only), bind_policy::close), error);
}

/// What holds of every layout: no processor before its core is needed, threads of a node together.
TEST(TeamLayout, HoldsItsPromisesOnEveryGrid) {
  for (const int nodes : {1, 2, 3, 8}) {
    for (const int cores : {1, 3, 4}) {
      for (const int smt : {1, 2, 4}) {
        const topology where{grid(nodes, cores, smt)};
        const auto cpus = static_cast<std::size_t>(nodes * cores * smt);
        for (std::size_t threads = 1; threads <= cpus + 3; ++threads) {
          for (const auto policy : {bind_policy::close, bind_policy::spread}) {
            SCOPED_TRACE(testing::Message() << nodes << "x" << cores << "x" << smt << ", "
                                            << threads << " threads, " << to_string(policy));
            const team_layout layout(where, policy, threads);
            ASSERT_EQ(layout.size(), threads);
            EXPECT_EQ(layout.cpus().size(), std::min(threads, cpus));
            const auto owners = layout.owners();
            EXPECT_TRUE(std::is_sorted(owners.begin(), owners.end()));
            std::map<node_id, std::size_t> of_node;
            for (const node_id node : owners) {
              ++of_node[node];
            }
            if (policy == bind_policy::spread && threads >= static_cast<std::size_t>(nodes)) {
              EXPECT_EQ(of_node.size(), static_cast<std::size_t>(nodes));
            }
          }
        }
      }
    }
  }
}

TEST(TeamLayout, PlacesOfCoresAndNodesLetThreadsMoveWithin) {
  const topology where{grid(2, 2, 2)}; // cores {0,4} {1,5} | {2,6} {3,7}
  const team_layout cores(where, {.threads = 4, .places = place_kind::cores});
  EXPECT_EQ(cores.omp_places(), "{0,4},{1,5},{2,6},{3,7}");
  EXPECT_THAT(cpus_of(cores), ElementsAre(-1, -1, -1, -1)) << "none is pinned to one";
  EXPECT_THAT(nodes_of(cores), ElementsAre(0, 0, 1, 1));
  const team_layout nodes(where, {.threads = 3, .places = place_kind::nodes});
  EXPECT_EQ(nodes.omp_places(), "{0:2,4:2},{0:2,4:2},{2:2,6:2}");
  EXPECT_THAT(nodes_of(nodes), ElementsAre(0, 0, 1));
  const team_layout far(where, {bind_policy::spread, 2, place_kind::nodes});
  EXPECT_EQ(far.omp_places(), "{0:2,4:2},{2:2,6:2}");
}

TEST(TeamLayout, APackageOfSeveralNodesIsNoNodesOwn) {
  machine two_nodes_in_one = grid(2, 2);
  two_nodes_in_one.packages = {{0, cpu_set::range(cpu_id{0}, cpu_id{3})}};
  const team_layout layout(topology{two_nodes_in_one}, {.places = place_kind::packages});
  EXPECT_EQ(layout.omp_places(), "{0:4},{0:4},{0:4},{0:4}");
  EXPECT_THROW((void)layout.owners(), error);
}

TEST(TeamLayout, SecondHardwareThreadsCanBeLeftOutOrCounted) {
  const topology where{grid(2, 2, 2)};
  const team_layout off(where, {.threads = 8, .smt = smt_use::off});
  EXPECT_EQ(off.cpus().to_string(), "0-3");
  EXPECT_EQ(off.threads_per_cpu(), 2U);
  const team_layout alone(where, {.places = place_kind::cores, .smt = smt_use::off});
  EXPECT_EQ(alone.omp_places(), "{0},{1},{2},{3}");
  EXPECT_EQ(team_layout(where, {.smt = smt_use::on}).size(), 8U);
  EXPECT_EQ(team_layout(where, {.threads = 4, .smt = smt_use::on}).cpus().to_string(), "0-3");
}

TEST(TeamLayout, APinnedListKeepsItsOrderAndStartsAgain) {
  const topology where{grid(2, 2)};
  const std::vector<cpu_id> list = {cpu_id{3}, cpu_id{0}, cpu_id{2}};
  const team_layout three = team_layout::pinned(where, list);
  EXPECT_THAT(cpus_of(three), ElementsAre(3, 0, 2));
  EXPECT_THAT(nodes_of(three), ElementsAre(1, 0, 1));
  EXPECT_EQ(three.omp_places(), "{3},{0},{2}");
  EXPECT_EQ(three.omp_proc_bind(), "close");
  EXPECT_EQ(three.threads_per_cpu(), 1U);
  const team_layout five = team_layout::pinned(where, list, 5);
  EXPECT_THAT(cpus_of(five), ElementsAre(3, 0, 2, 3, 0));
  EXPECT_EQ(five.threads_per_cpu(), 2U);
  EXPECT_THAT(cpus_of(team_layout::pinned(where, list, 2)), ElementsAre(3, 0));
  const std::vector<cpu_id> twice = {cpu_id{1}, cpu_id{1}};
  EXPECT_EQ(team_layout::pinned(where, twice).threads_per_cpu(), 2U);
  EXPECT_EQ(team_layout::pinned(where, list, 0, place_kind::nodes).omp_places(),
            "{2:2},{0:2},{2:2}");
  EXPECT_THROW((void)team_layout::pinned(where, {}), error);
}

TEST(BindPolicy, HasTheNamesOfTheCommandLine) {
  for (const auto policy : {bind_policy::none, bind_policy::close, bind_policy::spread}) {
    EXPECT_EQ(parse_bind_policy(to_string(policy)), policy);
  }
  EXPECT_EQ(parse_bind_policy("scatter"), std::nullopt);
}

} // namespace
} // namespace nodewise
