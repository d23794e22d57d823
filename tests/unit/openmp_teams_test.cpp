// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <optional>
#include <vector>

#include <omp.h>

#include <nodewise/openmp.hpp>

#include "unit/node_teams_test.hpp"

namespace nodewise::test {

/// Where the threads of a plain parallel region may run, by thread.
std::vector<cpu_set> plain_places(int threads = omp_get_max_threads()) {
  std::vector<cpu_set> places(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  places[static_cast<std::size_t>(omp_get_thread_num())] = thread_affinity();
  return places;
}

INSTANTIATE_TYPED_TEST_SUITE_P(OpenMP, NodeTeams, openmp_teams);

TEST(OpenMPTeams, PlainRegionsHaveTheirThreadsWhileTheyAreHeld) {
  const cpu_set before = thread_affinity();
  const int threads_before = omp_get_max_threads();
  openmp_teams teams(topology::from_sysfs(), {.threads = 3});
  for (int round = 0; round < 2; ++round) {
    const auto held = teams.runtime().keep_bound();
    const auto places = plain_places();
    ASSERT_EQ(places.size(), 3U);
    for (std::size_t k = 0; k < places.size(); ++k) {
      EXPECT_EQ(places[k], teams.threads().places()[k].place) << "thread " << k;
    }
    teams.on_each_worker([](const worker&) {});
    EXPECT_EQ(thread_affinity(), teams.threads().places()[0].place);
  }
  EXPECT_EQ(omp_get_max_threads(), threads_before);
  EXPECT_EQ(thread_affinity(), before);
}

// Started with OMP_THREAD_LIMIT too, where a thread is several workers in turn.
TEST(OpenMPTeams, ThreadsHaveTheirProcessorsBackAfterwards) {
  const auto before = plain_places(5);
  for (int round = 0; round < 2; ++round) {
    openmp_teams teams(topology::from_sysfs(), {.threads = 5});
    teams.on_each_worker([](const worker&) {});
    {
      const auto held = teams.runtime().keep_bound();
      openmp_teams inside(topology::from_sysfs(), {.threads = 3});
      inside.on_each_worker([](const worker&) {});
    }
    teams.on_each_worker([](const worker&) {});
  }
  EXPECT_EQ(plain_places(5), before);
}

// Loops in quick succession leave the caller unbound where it runs on its place in any case.
TEST(OpenMPTeams, ShortLoopsLeaveTheCallerItsProcessors) {
  const cpu_set before = thread_affinity();
  openmp_teams teams(topology::from_sysfs(), {.threads = 3});
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> calls{0};
    teams.on_each_worker([&](const worker& me) {
      ++calls;
      const cpu_set now = thread_affinity();
      const bool is_placed = now == teams.threads().places()[me.number].place;
      EXPECT_TRUE(is_placed || (me.number == 0 && now == before)) << "worker " << me.number;
    });
    ASSERT_EQ(calls, 3);
    ASSERT_EQ(thread_affinity(), before) << "after loop " << round;
  }
}

// A team that is gone must not be taken for the next one, which lies where it has lain.
TEST(OpenMPTeams, ATeamInTheSamePlaceIsAnother) {
  std::optional<openmp_teams> teams;
  for (const std::size_t threads : {2U, 1U, 3U}) {
    teams.emplace(topology::from_sysfs(), layout_options{.threads = threads});
    teams->on_each_worker([&](const worker& me) {
      EXPECT_EQ(thread_affinity(), teams->threads().places()[me.number].place);
    });
  }
}

} // namespace nodewise::test
