// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/tbb.hpp>

#include <atomic>

#include <tbb/parallel_for.h>

#include "unit/task_teams_test.hpp"

namespace nodewise::test {

INSTANTIATE_TYPED_TEST_SUITE_P(OneTbb, TaskTeams, tbb_teams);

TEST(OneTbbTasks, MayUseAlgorithmsOfOneTbb) {
  tbb_teams teams(topology::from_sysfs(), {.threads = 4});
  std::atomic<int> calls{0};
  (void)run_tasks(teams, [&](task_group& group) {
    for (int k = 0; k < 50; ++k) {
      group.spawn([&] { tbb::parallel_for(0, 20, [&](int) { ++calls; }); });
    }
  });
  EXPECT_EQ(calls, 1000);
}

} // namespace nodewise::test
