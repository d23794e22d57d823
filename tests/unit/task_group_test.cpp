// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Tasks on machines that are not there: threads bound nowhere, whose teams are those of the
// machine.
#include <nodewise/tasks.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <nodewise/owned_span.hpp>

#include "sys/kernel.hpp"
#include "unit/any_node.hpp"
#include "unit/task_trees.hpp"
#include "unit/thread_teams.hpp"

namespace nodewise {
namespace {

using test::thread_teams;
using test::threads_on;

constexpr std::array every_steal{steal::never, steal::local_first, steal::any};

/// The node of the worker that the calling thread is.
node_id here() {
  return detail::this_worker->self().node;
}

TEST(TaskGroup, EveryTaskRunsOnce) {
  for (const steal across : every_steal) {
    thread_teams teams = threads_on("2x2");
    std::vector<std::atomic<int>> calls(5000);
    const task_statistics done =
        run_tasks(teams,
                  [&](task_group& group) {
                    for (std::size_t k = 0; k < calls.size(); ++k) {
                      switch (k % 3) {
                      case 0:
                        group.spawn([&calls, k] { ++calls[k]; });
                        break;
                      case 1:
                        group.spawn(node_id{1}, [&calls, k] { ++calls[k]; });
                        break;
                      default:
                        group.spawn(node_id{0}, [&calls, k] { ++calls[k]; });
                      }
                    }
                  },
                  {across});
    for (const auto& each : calls) {
      ASSERT_EQ(each, 1);
    }
    EXPECT_EQ(done.tasks(), calls.size());
    EXPECT_EQ(done.homeless, 1667U);
    EXPECT_EQ(done.dropped, 0U);
  }
}

TEST(TaskGroup, TasksStayOnTheirNodeIfNothingIsStolen) {
  thread_teams teams = threads_on("4x2");
  std::atomic<int> elsewhere{0};
  const task_statistics done =
      run_tasks(teams,
                [&](task_group& group) {
                  for (int k = 0; k < 400; ++k) {
                    const node_id home{k % 4};
                    group.spawn(home, [&elsewhere, home] {
                      task_group nested;
                      for (int child = 0; child < 3; ++child) {
                        nested.spawn([&elsewhere, home] { elsewhere += here() != home; });
                      }
                      elsewhere += here() != home;
                      nested.wait();
                    });
                  }
                },
                {steal::never});
  EXPECT_EQ(elsewhere, 0);
  EXPECT_EQ(done.at_home, 400U);
  EXPECT_EQ(done.homeless, 1200U);
  EXPECT_EQ(done.stolen_between_nodes(), 0U);
}

// Each waits for all others, so none can have run two. In many rounds, some of which find all
// workers asleep.
TEST(TaskGroup, AllWorkersComeForTasksOfOneNode) {
  for (int round = 0; round < 40; ++round) {
    const steal across = round % 2 == 0 ? steal::local_first : steal::any;
    thread_teams teams = threads_on("2x2");
    std::latch all(4);
    const task_statistics done =
        run_tasks(teams,
                  [&](task_group& group) {
                    for (int k = 0; k < 4; ++k) {
                      group.spawn(node_id{0}, [&all] { all.arrive_and_wait(); });
                    }
                  },
                  {across});
    EXPECT_EQ(done.at_home, 2U);
    EXPECT_EQ(done.elsewhere, 2U);
    EXPECT_EQ(done.stolen_nearest, 2U) << to_string(done);
  }
}

TEST(TaskGroup, AnUnknownNodeIsNoHome) {
  thread_teams teams = threads_on("2x2");
  const auto untouched = std::make_unique<region>(1 << 20, bound(test::any_node()));
  EXPECT_EQ(node_of(nullptr), unknown_node);
  EXPECT_EQ(node_of(untouched->data()), unknown_node);
  std::byte on_stack{};
  const auto kernels = sys::real_kernel().node_of_page(&on_stack);
  EXPECT_EQ(node_of(&on_stack), kernels ? kernels.value : unknown_node);
  std::vector<int> few(10);
  const owned_span owned(few, bound(node_id{1}));
  EXPECT_EQ(owner_of(owned, 9), node_id{1});
  EXPECT_EQ(owner_of(owned, 10), unknown_node);
  const task_statistics done = run_tasks(teams, [&](task_group& group) {
    const auto nothing = [] {};
    group.spawn(unknown_node, nothing);
    group.spawn(node_id{7}, nothing); // not of this machine
    group.spawn(static_cast<const void*>(nullptr), nothing);
    group.spawn(static_cast<const void*>(untouched->data()), nothing);
    group.spawn(owned, 10, nothing);
    EXPECT_EQ(group.wait(), task_status::complete);
    group.spawn(owned, 9, nothing);
  });
  EXPECT_EQ(done.homeless, 5U);
  EXPECT_EQ(done.at_home + done.elsewhere, 1U);
}

TEST(TaskGroup, ElementsOfAnArrayAreAtHomeOnTheirOwners) {
  thread_teams teams = threads_on("4x1");
  std::vector<int> numbers(100000);
  const owned_span owned(numbers, teams.blocked());
  for (std::size_t index = 0; index < numbers.size(); index += 997) {
    const auto extents = owned.extents();
    const element_map map = owned.elements();
    const auto holds = [&](const extent& e) {
      const index_range range = map.of_pages(e.first_page, e.last_page);
      return range.first <= index && index < range.last;
    };
    ASSERT_EQ(owner_of(owned, index), std::ranges::find_if(extents, holds)->owner);
  }
  std::atomic<int> elsewhere{0};
  (void)run_tasks(teams,
                  [&](task_group& group) {
                    for (std::size_t index = 0; index < numbers.size(); index += 997) {
                      group.spawn(owned, index, [&elsewhere, &owned, index] {
                        elsewhere += owner_of(owned, index) != here();
                      });
                    }
                  },
                  {steal::never});
  EXPECT_EQ(elsewhere, 0);
}

TEST(TaskGroup, AnAddressIsAtHomeOnTheNodeOfItsPage) {
  thread_teams teams(topology::from_sysfs(), {.threads = 2});
  std::byte here{};
  const task_statistics done = run_tasks(
      teams, [&](task_group& group) { group.spawn(static_cast<const void*>(&here), [] {}); });
  const bool known = std::ranges::any_of(
      teams.threads().teams(), [&](const node_team& t) { return t.node == node_of(&here); });
  EXPECT_EQ(done.at_home + done.elsewhere, known ? 1U : 0U);
  EXPECT_EQ(done.tasks(), 1U);
}

TEST(TaskGroup, TheFirstExceptionComesOutOfWait) {
  for (const steal across : every_steal) {
    thread_teams teams = threads_on("2x2");
    std::atomic<int> ended{0};
    const task_statistics done =
        run_tasks(teams,
                  [&](task_group& group) {
                    group.spawn(node_id{1}, [] { throw std::runtime_error("from a task"); });
                    EXPECT_THROW(group.wait(), std::runtime_error);
                    EXPECT_FALSE(group.is_cancelled());
                    group.spawn([&] { ++ended; });
                    EXPECT_EQ(group.wait(), task_status::complete);
                  },
                  {across});
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(done.tasks(), 2U);
  }
}

TEST(TaskGroup, AnExceptionThatNobodyCatchesComesOutOfRunTasks) {
  thread_teams teams = threads_on("2x2");
  const auto throws = [](task_group& group) {
    group.spawn(node_id{1}, [] {
      task_group inner;
      inner.spawn([] { throw std::out_of_range("deep inside"); });
      inner.wait();
      ADD_FAILURE();
    });
  };
  EXPECT_THROW((void)run_tasks(teams, throws), std::out_of_range);
  const auto throws_itself = [](task_group& group) {
    group.spawn([] {});
    throw std::logic_error("from the body");
  };
  EXPECT_THROW((void)run_tasks(teams, throws_itself), std::logic_error);
  std::atomic<int> after{0};
  (void)run_tasks(teams, [&](task_group& group) { group.spawn([&] { ++after; }); });
  EXPECT_EQ(after, 1);
}

TEST(TaskGroup, CancelledTasksAreDropped) {
  thread_teams teams = threads_on("1x1"); // one worker: nothing runs before the wait
  int calls = 0;
  const auto kept = std::make_shared<int>(0);
  const task_statistics done = run_tasks(teams, [&](task_group& group) {
    for (int k = 0; k < 10; ++k) {
      group.spawn([&calls, kept] { ++calls; });
    }
    group.cancel();
    EXPECT_TRUE(group.is_cancelled());
    EXPECT_EQ(group.wait(), task_status::cancelled);
    EXPECT_EQ(kept.use_count(), 1) << "their functions are destroyed";
    {
      task_group left;
      left.spawn([&calls] { ++calls; });
    }
    group.spawn([&] {
      group.cancel(); // reaches the groups inside
      task_group inner;
      EXPECT_TRUE(inner.is_cancelled());
      inner.spawn([&calls] { ++calls; });
      EXPECT_EQ(inner.wait(), task_status::cancelled);
    });
  });
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(done.dropped, 12U);
}

TEST(TaskGroup, LargeFunctionsAndThoseThatOnlyMoveAreTasks) {
  thread_teams teams = threads_on("2x1");
  std::atomic<long> sum{0};
  std::array<long, 100> large{};
  large.fill(1);
  (void)run_tasks(teams, [&](task_group& group) {
    group.spawn([large, &sum] { sum += large[99]; });
    group.spawn(node_id{1}, [own = std::make_unique<long>(2), &sum] { sum += *own; });
  });
  EXPECT_EQ(sum, 3);
}

TEST(TaskGroup, OtherThreadsMaySpawnButNotWait) {
  EXPECT_THROW(task_group(), error);
  thread_teams teams = threads_on("2x1");
  std::atomic<int> calls{0};
  (void)run_tasks(teams, [&](task_group& group) {
    std::jthread([&] {
      group.spawn([&] { ++calls; });
      group.spawn(node_id{1}, [&] { ++calls; });
      EXPECT_THROW(group.wait(), error);
    }).join();
    group.wait();
    EXPECT_EQ(calls, 2);
  });
}

TEST(TaskGroup, RunsNestInTasks) {
  thread_teams teams = threads_on("2x2");
  std::atomic<int> calls{0};
  (void)run_tasks(teams, [&](task_group& group) {
    for (int k = 0; k < 4; ++k) {
      group.spawn([&] {
        thread_teams inside = threads_on("2x1");
        (void)run_tasks(inside, [&](task_group& inner) {
          inner.spawn(node_id{1}, [&] { ++calls; });
          group.spawn([&] { ++calls; }); // of the run outside
        });
      });
    }
  });
  EXPECT_EQ(calls, 8);
}

TEST(TaskGroup, TasksOfNodesWithoutThreadsAreRunByOthers) {
  for (const std::size_t limit : {1U, 2U, 3U, 5U}) {
    for (const steal across : every_steal) {
      thread_teams teams = threads_on("4x2", limit);
      std::atomic<int> calls{0};
      (void)run_tasks(teams,
                      [&](task_group& group) {
                        for (int k = 0; k < 100; ++k) {
                          group.spawn(node_id{k % 4}, [&] { ++calls; });
                        }
                      },
                      {across});
      EXPECT_EQ(calls, 100) << limit << " threads";
    }
  }
}

TEST(TaskGroup, SmallPartsAreNoTasks) {
  thread_teams teams = threads_on("2x2");
  EXPECT_EQ(task_cut_off(1 << 20, teams.threads()), (1U << 20) / 128);
  EXPECT_EQ(task_cut_off(100, teams.threads()), 1U);
  EXPECT_EQ(task_cut_off(100, teams.threads(), 64), 64U);
  int calls = 0;
  const task_statistics done = run_tasks(teams, [&](task_group& group) {
    group.spawn_if(false, node_id{1}, [&] { ++calls; });
    EXPECT_EQ(calls, 1);
    group.spawn_if(false, [&] { ++calls; });
    group.spawn_if(true, node_id{1}, [&] { ++calls; });
    group.wait();
  });
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(done.tasks(), 1U);
}

TEST(TaskGroup, RandomTreesEndWithWhatTheySayTheyDid) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    thread_teams teams = threads_on(seed % 2 == 0 ? "2x2" : "4x1");
    test::run_random_tree(teams, seed, every_steal[seed % 3]);
  }
}

TEST(TaskGroup, StatisticsAreText) {
  EXPECT_EQ(
      to_string(task_statistics{
          .at_home = 30, .elsewhere = 10, .homeless = 50, .stolen_node = 5, .stolen_nearest = 12}),
      "90 tasks, 75.0 % of 40 at home; 17 stolen: 0 from the same core, 5 from the same "
      "node, 12 from the nearest, 0 from farther");
  EXPECT_EQ(to_string(task_statistics{.homeless = 1, .dropped = 2}),
            "1 task, 2 dropped; 0 stolen: 0 from the same core, 0 from the same node, 0 from "
            "the nearest, 0 from farther");
}

} // namespace
} // namespace nodewise
