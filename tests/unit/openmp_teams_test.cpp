// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <omp.h>

#include <nodewise/openmp.hpp>

#include "unit/node_teams_test.hpp"

namespace nodewise::test {

/// Where the threads of a plain parallel region may run, by thread.
std::vector<cpu_set> plain_places() {
  std::vector<cpu_set> places(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
  places[static_cast<std::size_t>(omp_get_thread_num())] = thread_affinity();
  return places;
}

INSTANTIATE_TYPED_TEST_SUITE_P(OpenMP, NodeTeams, openmp_teams);

TEST(OpenMPTeams, PlainRegionsHaveTheirThreadsWhileTheyAreHeld) {
  const cpu_set before = thread_affinity();
  const int threads_before = omp_get_max_threads();
  openmp_teams teams(topology::from_sysfs(), {.threads = 3});
  for (int round = 0; round < 2; ++round) {
    const auto held = teams.runtime().hold();
    const auto places = plain_places();
    ASSERT_EQ(places.size(), 3U);
    for (std::size_t k = 0; k < places.size(); ++k) {
      EXPECT_EQ(places[k], teams.who().places()[k].place) << "thread " << k;
    }
    teams.on_each_worker([](const worker&) {});
    EXPECT_EQ(thread_affinity(), teams.who().places()[0].place);
  }
  EXPECT_EQ(omp_get_max_threads(), threads_before);
  EXPECT_EQ(thread_affinity(), before);
}

} // namespace nodewise::test
