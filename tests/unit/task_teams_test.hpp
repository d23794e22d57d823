// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What holds for tasks on the teams of every runtime. `Teams` is one of them; a file for each
// instantiates these tests.
#pragma once

#include <atomic>
#include <cstddef>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <nodewise/affinity.hpp>
#include <nodewise/tasks.hpp>

#include "unit/task_trees.hpp"

namespace nodewise::test {

/// The sum of an array, by a tree of tasks.
inline double sum_in_tasks(const array<double>& of, std::size_t first, std::size_t last) {
  if (last - first <= 1000) {
    return std::accumulate(of.begin() + first, of.begin() + last, 0.0);
  }
  const std::size_t half = first + (last - first) / 2;
  double left = 0;
  double right = 0;
  task_group both;
  both.spawn(of, first, [&] { left = sum_in_tasks(of, first, half); });
  both.spawn(of, half, [&] { right = sum_in_tasks(of, half, last); });
  both.wait();
  return left + right;
}

template <class Teams>
void expect_the_sum_of_tasks(Teams& teams) {
  array<double> a(100000, teams.blocked());
  teams.fill(a, 0.5);
  double sum = 0;
  const task_statistics done =
      run_tasks(teams, [&](task_group&) { sum = sum_in_tasks(a, 0, a.size()); }, {steal::never});
  EXPECT_EQ(sum, 50000);
  EXPECT_EQ(done.elsewhere, 0U);
  EXPECT_EQ(done.tasks(), 254U); // parts of 100000 / 128 and all above them, but for the root
}

template <class Teams>
class TaskTeams : public testing::Test {
 protected:
  topology here_ = topology::from_sysfs();
  layout_options four_{.threads = 4};
};

TYPED_TEST_SUITE_P(TaskTeams);

TYPED_TEST_P(TaskTeams, TreesRunOnThreadsOfTheRuntime) {
  const cpu_set before = thread_affinity();
  TypeParam teams(this->here_, this->four_);
  expect_the_sum_of_tasks(teams);
  EXPECT_EQ(thread_affinity(), before);
  std::atomic<int> elsewhere{0};
  (void)run_tasks(teams, [&](task_group& group) {
    for (int k = 0; k < 100; ++k) {
      group.spawn([&] {
        const std::size_t team = detail::this_worker->self().team;
        elsewhere += teams.threads().teams()[team].cpus.contains(current_cpu()) ? 0 : 1;
      });
    }
  });
  EXPECT_EQ(elsewhere, 0);
}

TYPED_TEST_P(TaskTeams, LoopsAndTasksTakeTurns) {
  TypeParam teams(this->here_, this->four_);
  std::atomic<int> calls{0};
  for (int round = 0; round < 20; ++round) {
    (void)run_tasks(teams, [&](task_group& group) { group.spawn([&] { ++calls; }); });
    teams.on_each_worker([&](const worker&) { ++calls; });
  }
  EXPECT_EQ(calls, 20 * 5);
}

TYPED_TEST_P(TaskTeams, RandomTreesEndWithWhatTheySayTheyDid) {
  TypeParam teams(this->here_, this->four_);
  for (unsigned seed = 0; seed < 10; ++seed) {
    run_random_tree(teams, seed, seed % 2 == 0 ? steal::local_first : steal::never);
  }
}

TYPED_TEST_P(TaskTeams, RunsNestInTasks) {
  TypeParam teams(this->here_, this->four_);
  std::atomic<int> calls{0};
  (void)run_tasks(teams, [&](task_group& group) {
    group.spawn([&] {
      TypeParam inside(this->here_, layout_options{.threads = 2});
      (void)run_tasks(inside, [&](task_group& inner) { inner.spawn([&] { ++calls; }); });
    });
  });
  EXPECT_EQ(calls, 1);
}

TYPED_TEST_P(TaskTeams, RunsOnTheTeamsThatRunTheTaskAreRefused) {
  TypeParam teams(this->here_, this->four_);
  std::atomic<int> refused{0};
  std::atomic<int> calls{0};
  const auto run_again = [&] {
    try {
      (void)run_tasks(teams, [&](task_group&) { ++calls; });
    } catch (const error& what) {
      refused += what.kind() == error_kind::usage ? 1 : 0;
    }
  };
  (void)run_tasks(teams, [&](task_group& group) {
    run_again();
    for (int k = 0; k < 10; ++k) {
      group.spawn([&] { run_again(); });
    }
    group.spawn([&] { // also through other teams
      TypeParam between(this->here_, layout_options{.threads = 2});
      (void)run_tasks(between, [&](task_group& inner) { inner.spawn([&] { run_again(); }); });
    });
  });
  EXPECT_EQ(refused, 12);
  EXPECT_EQ(calls, 0);
  run_again(); // outside of tasks
  EXPECT_EQ(calls, 1);
}

REGISTER_TYPED_TEST_SUITE_P(TaskTeams, TreesRunOnThreadsOfTheRuntime, LoopsAndTasksTakeTurns,
                            RandomTreesEndWithWhatTheySayTheyDid, RunsNestInTasks,
                            RunsOnTheTeamsThatRunTheTaskAreRefused);

} // namespace nodewise::test
