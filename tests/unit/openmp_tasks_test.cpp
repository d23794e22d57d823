// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/openmp.hpp>

#include "unit/task_teams_test.hpp"

namespace nodewise::test {

INSTANTIATE_TYPED_TEST_SUITE_P(OpenMP, TaskTeams, openmp_teams);

// Started with OMP_THREAD_LIMIT too, where a thread is several workers in turn.
TEST(OpenMPTeams, ThreadsThatAreFewerRunAllTasks) {
  openmp_teams teams(topology::from_sysfs(), {.threads = 5});
  expect_the_sum_of_tasks(teams);
}

} // namespace nodewise::test
