// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Both runtimes in one process, one after the other and both at once.
#include <nodewise/openmp.hpp>
#include <nodewise/tbb.hpp>

#include <thread>

#include "unit/task_teams_test.hpp"

namespace nodewise::test {
namespace {

TEST(BothRuntimes, TakeTurnsWithTasks) {
  const topology here = topology::from_sysfs();
  openmp_teams openmp(here, {.threads = 3});
  tbb_teams tbb(here, {.threads = 3});
  for (int round = 0; round < 3; ++round) {
    expect_the_sum_of_tasks(openmp);
    expect_the_sum_of_tasks(tbb);
  }
}

TEST(BothRuntimes, RunTasksAtTheSameTime) {
  const topology here = topology::from_sysfs();
  const std::jthread other([&here] {
    tbb_teams tbb(here, {.threads = 3});
    for (unsigned seed = 100; seed < 105; ++seed) {
      run_random_tree(tbb, seed, steal::local_first);
    }
  });
  openmp_teams openmp(here, {.threads = 3});
  for (unsigned seed = 200; seed < 205; ++seed) {
    run_random_tree(openmp, seed, steal::local_first);
  }
}

TEST(BothRuntimes, RunInEachOthersTasks) {
  const topology here = topology::from_sysfs();
  openmp_teams openmp(here, {.threads = 2});
  (void)run_tasks(openmp, [&](task_group& group) {
    group.spawn([&here] {
      tbb_teams tbb(here, {.threads = 2});
      expect_the_sum_of_tasks(tbb);
    });
  });
}

} // namespace
} // namespace nodewise::test
