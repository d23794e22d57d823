// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/detail/tasks/steal_order.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/grid_machine.hpp"

namespace nodewise::detail {
namespace {

using test::grid;

/// Writes down where a search looks, and finds nothing.
struct searched {
  std::vector<std::string>& places;

  [[nodiscard]] static bool has_idle(std::size_t team) { return team == 0; }
  [[nodiscard]] bool own() const {
    places.emplace_back("own");
    return false;
  }
  [[nodiscard]] bool of_team(std::size_t team) const {
    places.push_back("team " + std::to_string(team));
    return false;
  }
  [[nodiscard]] bool of_worker(std::size_t victim) const {
    places.push_back("worker " + std::to_string(victim));
    return false;
  }
};

/// Where the last of so many searches looks.
std::vector<std::string> places_of(const steal_order& order, const worker& me,
                                   std::size_t searches) {
  std::vector<std::string> places;
  searcher state{steal_random(1)};
  for (std::size_t k = 0; k < searches; ++k) {
    places.clear();
    (void)order.find(me, state, searched{places});
  }
  return places;
}

/// Nodes 0 and 2 are near to each other, and so are 1 and 3.
thread_map four_nodes(int cores, smt_use smt = smt_use::off) {
  machine made = grid(4, cores, smt == smt_use::on ? 2 : 1);
  made.distances = {{10, 21, 16, 21}, {21, 10, 21, 16}, {16, 21, 10, 21}, {21, 16, 21, 10}};
  const topology where(made);
  return {where, team_layout(where, {.smt = smt})};
}

thread_map map_of(const machine& made) {
  const topology where(made);
  return {where, team_layout(where, bind_policy::close)};
}

TEST(TaskOrder, IsOwnCoreThenOwnNodeThenTheNearest) {
  const thread_map threads = four_nodes(1, smt_use::on);
  const steal_order order(threads, steal::local_first);
  const worker& me = threads.workers()[2];
  const auto places = places_of(order, me, steal_order::misses_before_leaving + 1);
  const std::string mate = "worker " + std::to_string(threads.others_on_core(2).at(0));
  ASSERT_EQ(places.size(), 2U + 1 + 2 * 3) << "team 0 has an idle worker";
  EXPECT_EQ(places[0], "own");
  EXPECT_EQ(places[1], mate);
  EXPECT_EQ(places[2], "team 1");
  EXPECT_EQ(places[3], "team 3");
  const std::vector<std::string> nearest(places.begin() + 4, places.begin() + 6);
  for (const std::size_t each : threads.teams()[3].workers) {
    EXPECT_EQ(std::ranges::count(nearest, "worker " + std::to_string(each)), 1);
    EXPECT_EQ(order.from_worker(me, each), steal_distance::nearest);
  }
  EXPECT_EQ(order.from_worker(me, threads.others_on_core(2)[0]), steal_distance::core);
  EXPECT_EQ(order.from_team(me, 3), steal_distance::nearest);
  EXPECT_EQ(order.from_team(me, 0), steal_distance::farther);
}

TEST(TaskOrder, TheWorkersOfACacheComeBeforeTheQueueOfANodeWithSeveral) {
  for (const std::size_t caches : {std::size_t{1}, std::size_t{2}}) {
    const thread_map threads = map_of(test::grid_with_caches(2, 6, caches));
    const steal_order order(threads, steal::never);
    const worker& me = threads.workers()[7];
    const auto places = places_of(order, me, 1);
    const auto at_queue = std::ranges::find(places, "team 1");
    ASSERT_NE(at_queue, places.end());
    std::vector<std::string> before(places.begin() + 1, at_queue);
    std::vector<std::string> after(at_queue + 1, places.end());
    std::ranges::sort(before);
    std::ranges::sort(after);
    using names = std::vector<std::string>;
    EXPECT_EQ(before, caches == 1 ? names{} : (names{"worker 6", "worker 8"}));
    EXPECT_EQ(after, caches == 1
                         ? (names{"worker 10", "worker 11", "worker 6", "worker 8", "worker 9"})
                         : (names{"worker 10", "worker 11", "worker 9"}));
    EXPECT_EQ(order.from_worker(me, 8), steal_distance::node);
  }
}

TEST(TaskOrder, AWorkerStaysOnItsNodeAtFirstAndUnderNever) {
  const thread_map threads = four_nodes(3);
  const std::vector<std::string> at_home{"own", "team 2", "worker 7", "worker 8"};
  const auto sorted = [](std::vector<std::string> places) {
    std::ranges::sort(places);
    return places;
  };
  const worker& me = threads.workers()[6];
  const steal_order local_first(threads, steal::local_first);
  const steal_order never(threads, steal::never);
  EXPECT_EQ(sorted(places_of(local_first, me, steal_order::misses_before_leaving)), at_home);
  EXPECT_EQ(sorted(places_of(never, me, 1000)), at_home);
}

TEST(TaskOrder, AnySearchesAllWorkersFromARandomOneOn) {
  const thread_map threads = four_nodes(2);
  const steal_order order(threads, steal::any);
  searcher state{steal_random(1)};
  std::vector<int> first(8);
  for (int round = 0; round < 800; ++round) {
    std::vector<std::string> places;
    (void)order.find(threads.workers()[5], state, searched{places});
    ASSERT_EQ(places.size(), 2U + 4 + 8); // own, own node's queue, all queues, all workers
    ++first[static_cast<std::size_t>(places[6].back() - '0')];
  }
  for (const int times : first) { // the same every time; 100 is the mean
    EXPECT_GT(times, 50);
  }
}

TEST(TaskOrder, TasksAreSentToAnotherHomeThanThatOfTheirParent) {
  const thread_map threads = four_nodes(1);
  const steal_order order(threads, steal::local_first);
  EXPECT_FALSE(order.is_sent(no_home, no_home, 1, 0));
  EXPECT_FALSE(order.is_sent(1, no_home, 1, 0));
  EXPECT_TRUE(order.is_sent(0, no_home, 1, 0));
  EXPECT_TRUE(order.is_sent(0, 2, 1, 0));
  EXPECT_FALSE(order.is_sent(0, 0, 1, 0)) << "a stolen task keeps its children";
  EXPECT_FALSE(order.is_sent(0, 2, 1, steal_order::most_detours));
  const steal_order never(threads, steal::never);
  EXPECT_TRUE(never.is_sent(0, 0, 1, steal_order::most_detours));
  EXPECT_FALSE(never.is_sent(no_home, no_home, 1, 0));
}

} // namespace
} // namespace nodewise::detail
