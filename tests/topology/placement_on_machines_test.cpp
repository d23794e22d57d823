// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of placement and binding on every recorded machine, whatever its numbers look
// like.
#include "recorded_machines.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <nodewise/distribution.hpp>
#include <nodewise/team_layout.hpp>

namespace nodewise::test {

namespace {

class Placement : public testing::TestWithParam<recorded_machine> {
 protected:
  void SetUp() override {
    // All nodes: one record does not say how much memory its node has.
    const node_set nodes = GetParam().load().allowed_nodes();
    owners_.assign(nodes.begin(), nodes.end());
    ASSERT_FALSE(owners_.empty());
  }

  /// Each page one owner that may hold it; extents ascend, cover, and agree with owner().
  template <distribution D>
  void expect_covers(const D& d, std::size_t pages) const {
    std::size_t next = 0;
    for (const extent& e : d.extents(pages)) {
      ASSERT_EQ(e.first_page, next);
      ASSERT_GT(e.last_page, e.first_page);
      ASSERT_TRUE(std::ranges::find(owners_, e.owner) != owners_.end()) << to_int(e.owner);
      for (const std::size_t page : {e.first_page, e.last_page - 1}) {
        ASSERT_EQ(d.owner(page, pages), e.owner);
      }
      next = e.last_page;
    }
    ASSERT_EQ(next, pages);
  }

  std::vector<node_id> owners_;
};

INSTANTIATE_TEST_SUITE_P(Machines, Placement, testing::ValuesIn(recorded_machines()),
                         test_name<testing::TestParamInfo<recorded_machine>>);

constexpr std::size_t lengths[] = {0, 1, 2, 23, 24, 25, 512, 1000, 65537};

TEST_P(Placement, CoversEveryPageOnceByEveryDistribution) {
  std::vector<std::uint32_t> weights;
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    weights.push_back(static_cast<std::uint32_t>(1 + i % 3));
  }
  for (const std::size_t pages : lengths) {
    for (const node_id node : owners_) {
      expect_covers(bound(node), pages);
    }
    expect_covers(blocked(owners_), pages);
    expect_covers(block_cyclic(owners_, 1), pages);
    expect_covers(block_cyclic(owners_, 16), pages);
    expect_covers(weighted_blocks(owners_, weights), pages);
    expect_covers(explicit_map(blocked(owners_).extents(pages)), pages);
  }
}

TEST_P(Placement, BlocksDifferByAtMostOnePage) {
  for (const std::size_t pages : lengths) {
    const auto blocks = blocked(owners_).extents(pages);
    if (pages < owners_.size()) {
      EXPECT_EQ(blocks.size(), pages);
      continue;
    }
    ASSERT_EQ(blocks.size(), owners_.size());
    const auto [least, most] = std::ranges::minmax_element(blocks, {}, &extent::pages);
    EXPECT_LE(most->pages() - least->pages(), 1U);
  }
}

TEST_P(Placement, GivesABoundTeamBlocksOnTheNodesWhereItsThreadsRun) {
  const topology machine = GetParam().load();
  for (const bind_policy policy : {bind_policy::close, bind_policy::spread}) {
    for (const std::size_t threads : {std::size_t{0}, std::size_t{1}, std::size_t{5}}) {
      const team_layout team(machine, policy, threads);
      ASSERT_EQ(team.owners().size(), team.threads().size());
      for (const thread_place& thread : team.threads()) {
        ASSERT_TRUE(machine.allowed_cpus().includes(thread.place));
        for (const cpu_id cpu : thread.place) {
          ASSERT_EQ(machine.node_of(cpu), thread.node);
        }
      }
    }
  }
}

} // namespace

} // namespace nodewise::test
