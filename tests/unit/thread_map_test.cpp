// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/thread_map.hpp>

#include <array>

#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "unit/grid_machine.hpp"

namespace nodewise {
namespace {

using test::grid;
using test::memory_only;

TEST(ThreadMap, EachNodesWorkersAreATeam) {
  const topology where(grid(4, 2));
  const thread_map threads(where, team_layout(where, bind_policy::close));
  ASSERT_EQ(threads.teams().size(), 4U);
  ASSERT_EQ(threads.workers().size(), 8U);
  for (const worker& each : threads.workers()) {
    EXPECT_EQ(each.team, each.number / 2);
    EXPECT_EQ(each.in_team, each.number % 2);
    EXPECT_EQ(to_int(each.node), static_cast<int>(each.team));
    EXPECT_EQ(threads.teams()[each.team].workers[each.in_team], each.number);
    EXPECT_TRUE(threads.teams()[each.team].cpus.includes(threads.places()[each.number].place));
  }
}

TEST(ThreadMap, TeamsAreByNodeNumberWhateverTheOrderOfThreads) {
  const topology where(grid(2, 2, 1, {3, 7}));
  const std::array backwards{cpu_id{3}, cpu_id{0}, cpu_id{2}, cpu_id{1}};
  const thread_map threads(where, team_layout::pinned(where, backwards));
  ASSERT_EQ(threads.teams().size(), 2U);
  EXPECT_EQ(threads.teams()[0].node, node_id{3});
  EXPECT_EQ(threads.teams()[0].workers, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(threads.teams()[1].workers, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(threads.owners(), (std::vector{node_id{7}, node_id{3}, node_id{7}, node_id{3}}));
}

TEST(ThreadMap, OthersAreNearestFirst) {
  machine made = grid(4, 1);
  made.distances = {{10, 21, 16, 16}, {21, 10, 16, 16}, {16, 16, 10, 21}, {16, 16, 21, 10}};
  const topology where(made);
  const thread_map threads(where, team_layout(where, bind_policy::close));
  using groups = std::vector<std::vector<std::size_t>>;
  const auto others = [](const thread_map& of, std::size_t team) {
    return groups(of.others(team).begin(), of.others(team).end());
  };
  EXPECT_EQ(others(threads, 0), (groups{{2, 3}, {1}}));
  EXPECT_EQ(others(threads, 3), (groups{{0, 1}, {2}}));
  const topology unknown(grid(3, 1));
  const thread_map flat(unknown, team_layout(unknown, bind_policy::close));
  EXPECT_EQ(others(flat, 1), (groups{{0, 2}}));
}

TEST(ThreadMap, WorkersOfACoreKnowEachOther) {
  const topology where(grid(2, 2, 2));
  const thread_map threads(where, team_layout(where, {.smt = smt_use::on}));
  ASSERT_EQ(threads.workers().size(), 8U);
  for (const worker& each : threads.workers()) {
    const auto others = threads.others_on_core(each.number);
    ASSERT_EQ(others.size(), 1U);
    EXPECT_EQ(threads.others_on_core(others[0]), std::vector<std::size_t>{each.number});
    EXPECT_EQ(threads.workers()[others[0]].team, each.team);
  }
  const thread_map of_nodes(where, team_layout(where, {.places = place_kind::nodes}));
  EXPECT_TRUE(of_nodes.others_on_core(0).empty());
}

TEST(ThreadMap, AMemoryWithoutWorkersIsNearToSome) {
  machine made = grid(2, 1);
  made.nodes.push_back(memory_only(2));
  made.distances = {{10, 21, 14}, {21, 10, 24}, {14, 24, 10}};
  const topology where(made);
  const thread_map threads(where, team_layout(where, bind_policy::close));
  EXPECT_EQ(threads.nearest_to(node_id{1}), std::vector<std::size_t>{1});
  EXPECT_EQ(threads.nearest_to(node_id{2}), std::vector<std::size_t>{0});
  EXPECT_EQ(threads.nearest_to(node_id{9}), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(threads.nearest_to(unknown_node), (std::vector<std::size_t>{0, 1}));
}

TEST(ThreadMap, ThreadsThatRoamOverNodesHaveNoTeam) {
  const topology where(grid(2, 2));
  EXPECT_THROW(thread_map(where, team_layout(where, bind_policy::none)), error);
}

} // namespace
} // namespace nodewise
