// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Who does what on every recorded machine: the same for both runtimes, and each page once. Only the
// plan of a loop is asked for; nothing runs on processors that this machine does not have.
#include "recorded_machines.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <nodewise/openmp.hpp>
#include <nodewise/tbb.hpp>

namespace nodewise::test {

namespace {

class TeamsOn : public testing::TestWithParam<recorded_machine> {
 protected:
  template <class T>
  T pick(T least, T most) {
    return std::uniform_int_distribution<T>(least, most)(random_);
  }

  /// One of the distributions over the machine's nodes.
  std::vector<extent> random_extents(std::span<const node_id> nodes, std::size_t pages) {
    std::vector<node_id> owners(nodes.begin(), nodes.end());
    std::ranges::shuffle(owners, random_);
    owners.resize(pick<std::size_t>(1, owners.size()));
    switch (pick(0, 3)) {
    case 0:
      return bound(owners.front()).extents(pages);
    case 1:
      return blocked(owners).extents(pages);
    case 2:
      return block_cyclic(owners, pick<std::size_t>(1, 70)).extents(pages);
    default: {
      std::vector<std::uint32_t> weights(owners.size());
      std::ranges::generate(weights, [&] { return pick<std::uint32_t>(1, 9); });
      return weighted_blocks(owners, weights).extents(pages);
    }
    }
  }

  std::mt19937 random_{1};
};

INSTANTIATE_TEST_SUITE_P(Machines, TeamsOn, testing::ValuesIn(recorded_machines()),
                         test_name<testing::TestParamInfo<recorded_machine>>);

/// What a worker of a loop does under `schedule::owned`.
std::vector<page_lists::run> own_runs(const page_lists& pages, const thread_map& threads,
                                      const worker& me) {
  std::vector<page_lists::run> runs;
  const chunk part = owned_part(pages, threads, me);
  pages.for_runs(part.list, part.first, part.last,
                 [&](const page_lists::run& run) { runs.push_back(run); });
  return runs;
}

void expect_same(const thread_map& a, const thread_map& b) {
  EXPECT_TRUE(std::ranges::equal(a.workers(), b.workers()));
  ASSERT_EQ(a.teams().size(), b.teams().size());
  for (std::size_t team = 0; team < a.teams().size(); ++team) {
    EXPECT_EQ(a.teams()[team].node, b.teams()[team].node);
    EXPECT_EQ(a.teams()[team].cpus, b.teams()[team].cpus);
    EXPECT_EQ(a.teams()[team].workers, b.teams()[team].workers);
    EXPECT_TRUE(std::ranges::equal(a.others(team), b.others(team)));
  }
  for (std::size_t k = 0; k < a.workers().size(); ++k) {
    EXPECT_EQ(a.places()[k].place, b.places()[k].place);
  }
}

TEST_P(TeamsOn, BothRuntimesHaveTheSameWorkersAndPages) {
  const topology where = GetParam().load();
  for (const bind_policy policy : {bind_policy::close, bind_policy::spread}) {
    for (const std::size_t threads : {0U, 1U, 5U}) {
      const layout_options how{.policy = policy, .threads = threads};
      const openmp_teams openmp(where, how);
      const tbb_teams tbb(where, how);
      expect_same(openmp.threads(), tbb.threads());
      EXPECT_EQ(openmp.blocked().extents(1000), tbb.blocked().extents(1000));
    }
  }
}

TEST_P(TeamsOn, EveryWorkersBlockIsOnItsNode) {
  const topology where = GetParam().load();
  const thread_map threads(where, team_layout(where, bind_policy::close));
  for (const std::size_t count : {1U, 23U, 1000U, 65537U}) {
    const page_lists pages(blocked(threads.owners()).extents(count), threads);
    std::vector<int> times(count);
    for (const worker& me : threads.workers()) {
      for (const page_lists::run& run : own_runs(pages, threads, me)) {
        EXPECT_EQ(run.home, me.team);
        for (std::size_t page = run.first_page; page < run.last_page; ++page) {
          ++times[page];
          ASSERT_EQ(blocked(threads.owners()).owner(page, count), me.node);
        }
      }
    }
    EXPECT_TRUE(std::ranges::all_of(times, [](int t) { return t == 1; }));
  }
}

TEST_P(TeamsOn, EveryElementHasOneWorkerWhateverThePagesAndOwners) {
  const topology where = GetParam().load();
  const thread_map threads(where, team_layout(where, bind_policy::close));
  const node_set allowed = where.allowed_nodes();
  const std::vector<node_id> nodes(allowed.begin(), allowed.end());
  for (int round = 0; round < 40; ++round) {
    const std::size_t page_bytes = std::size_t{4096} << pick(0, 9);
    const std::size_t element_bytes = pick<std::size_t>(1, 3 * 4096);
    const std::size_t offset = pick<std::size_t>(0, 63) * 64;
    const element_map elements{offset, element_bytes, page_bytes, pick<std::size_t>(1, 20000)};
    const std::size_t count =
        (offset + elements.size * element_bytes + page_bytes - 1) / page_bytes;
    const std::vector<extent> extents = random_extents(nodes, count);
    const page_lists pages(extents, threads);
    std::vector<int> times(elements.size);
    for (const worker& me : threads.workers()) {
      for (const page_lists::run& run : own_runs(pages, threads, me)) {
        const index_range range = elements.of_pages(run.first_page, run.last_page);
        for (std::size_t k = range.first; k < range.last; ++k) {
          ++times[k];
        }
      }
    }
    ASSERT_TRUE(std::ranges::all_of(times, [](int t) { return t == 1; })) << "round " << round;
  }
}

TEST_P(TeamsOn, PagesGoToTheirOwnersTeamWhereItHasOne) {
  const topology where = GetParam().load();
  const thread_map threads(where, team_layout(where, bind_policy::close));
  const node_set allowed = where.allowed_nodes();
  const std::vector<node_id> nodes(allowed.begin(), allowed.end());
  for (int round = 0; round < 40; ++round) {
    const std::vector<extent> extents = random_extents(nodes, pick<std::size_t>(1, 5000));
    const page_lists pages(extents, threads);
    for (const extent& each : extents) {
      const std::vector<std::size_t> near = threads.nearest_to(each.owner);
      pages.for_runs(pages.everything(), each.first_page, each.last_page,
                     [&](const page_lists::run& run) {
                       EXPECT_TRUE(std::ranges::find(near, run.home) != near.end());
                     });
    }
  }
}

} // namespace

} // namespace nodewise::test
