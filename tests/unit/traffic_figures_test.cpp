// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "traffic/counts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/counts_files.hpp"

namespace nodewise::traffic {
namespace {

using testing::ElementsAre;

counts first_touch() {
  return read_counts(counts_file("first-touch-4x2"));
}

TEST(Locality, IsTheShareOnTheProcessorsOwnNode) {
  locality where;
  EXPECT_EQ(where.share(), std::nullopt);
  where.add(node_id{0}, node_id{0}, 1);
  where.add(node_id{1}, node_id{0}, 2);
  EXPECT_DOUBLE_EQ(*where.share(), 1.0 / 3);
  where.add(node_id{1}, unknown_node, 1);
  where.add(unknown_node, unknown_node, 1); // two unknown nodes are not the same node
  EXPECT_EQ(where.unknown, 2U);
  EXPECT_DOUBLE_EQ(*where.share(), 0.2) << "unknown is no success";
}

TEST(Totals, OfFirstTouchByOneThreadAreLocalInInitialisationOnly) {
  const counts all = first_touch();
  EXPECT_EQ(judged_phase(all), phase::use);
  const phase_totals before = totals(all, phase::initialisation);
  EXPECT_DOUBLE_EQ(*before.where.share(), 1);
  EXPECT_EQ(before.where.local, 3U * 16 * 1024 * 1024 / 64);
  const phase_totals use = totals(all, phase::use);
  EXPECT_DOUBLE_EQ(*use.where.share(), 0.25);
  EXPECT_EQ(use.where.remote, 2359296U);
  EXPECT_EQ(use.lines.write_backs, 1064960U);
  EXPECT_EQ(use.dirty, 65536U);
}

TEST(Totals, CountStreamedLinesAsAskedFor) {
  const counts all = read_counts(counts_with("cell 0 0 use 1 100 0 2\ncell 2 0 use 0 0 0 1\n"));
  EXPECT_DOUBLE_EQ(*totals(all, phase::use).where.share(), 0.75);
}

TEST(Totals, WithHardlyAnyUseAreJudgedByInitialisation) {
  const auto with_use = [](const std::string& lines) {
    return counts_with("cell 0 0 init 10000 0 0 0\ncell 0 0 use " + lines + " 0 0 0\n");
  };
  EXPECT_EQ(judged_phase(read_counts(with_use("99"))), phase::initialisation);
  EXPECT_EQ(judged_phase(read_counts(with_use("100"))), phase::use);
}

TEST(Totals, WithoutUseAreJudgedByInitialisation) {
  EXPECT_EQ(judged_phase(read_counts(counts_file("no-use-2x2"))), phase::initialisation);
  EXPECT_EQ(judged_phase(read_counts(counts_file("nothing-2x2"))), phase::initialisation);
}

TEST(NodeMatrix, HasProcessorsNodesAsRowsAndMemoriesAsColumns) {
  const node_matrix use = node_by_node(first_touch(), phase::use);
  ASSERT_EQ(use.from.size(), 4U);
  ASSERT_EQ(use.to.size(), 4U);
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(use.at(row, 0), 786432U);
    EXPECT_EQ(use.at(row, 3), 0U);
  }
  EXPECT_EQ(use.total(), 4U * 786432);
  const node_matrix before = node_by_node(first_touch(), phase::initialisation);
  EXPECT_EQ(before.at(0, 0), 786432U);
  EXPECT_EQ(before.total(), 786432U);
}

TEST(NodeMatrix, ShowsAnUnknownNodeWhereItOccursOnly) {
  const node_matrix all = node_by_node(read_counts(counts_file("many-objects-2x2")), phase::use);
  EXPECT_THAT(all.to, ElementsAre(unknown_node, node_id{0}, node_id{1}));
  EXPECT_THAT(all.from, ElementsAre(node_id{0}, node_id{1}));
  EXPECT_EQ(all.at(1, 0), 10U);
}

TEST(Imbalance, IsTheBusiestMemoryOverTheMean) {
  const counts all = first_touch();
  EXPECT_DOUBLE_EQ(*imbalance(memory_loads(all, phase::use)), 4) << "all of four on one";
  EXPECT_DOUBLE_EQ(*imbalance({{node_id{0}, 5}, {node_id{1}, 5}}), 1);
  EXPECT_DOUBLE_EQ(*imbalance({{node_id{0}, 3}, {node_id{1}, 1}}), 1.5);
  EXPECT_EQ(imbalance(memory_loads(read_counts(counts_file("nothing-2x2")), std::nullopt)),
            std::nullopt);
}

TEST(Imbalance, CountsAllThatAMemoryMoves) {
  const counts all = read_counts(counts_with("cell 0 0 init 1 2 0 3\ncell 0 1 use 4 0 9 0\n"));
  const auto both = memory_loads(all, std::nullopt);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].lines, 6U);
  EXPECT_EQ(both[1].lines, 4U) << "a dirty line has not been moved";
  EXPECT_EQ(memory_loads(all, phase::use)[0].lines, 0U);
}

TEST(Sites, AddUpTheObjectsOfOneCaller) {
  const auto sites = sites_of(read_counts(counts_file("many-objects-2x2")));
  ASSERT_EQ(sites.size(), 4U);
  const site& rows = sites[0];
  EXPECT_EQ(rows.kind, object_kind::heap);
  EXPECT_EQ(rows.objects, 100U) << "in both processes";
  EXPECT_EQ(rows.bytes, 100U * 65536);
  EXPECT_DOUBLE_EQ(*rows.where(phase::use).share(), 0.5);
  EXPECT_EQ(rows.where(phase::initialisation).share(), std::nullopt);
  EXPECT_EQ(sites[1].kind, object_kind::other) << "unknown lines are as bad as remote ones";
  EXPECT_EQ(sites[2].name, "grid");
  EXPECT_EQ(sites[2].pages.at(node_id{1}), 32U);
  EXPECT_EQ(sites[3].where(phase::use).local, 1024U) << "streamed";
}

TEST(UserRuns, HaveAProcessAnObjectPagesAMemoryAndThreads) {
  const auto runs =
      read_counts(
          counts_with(
              "thread 7 0 7\nthread 7 1 8\nthread 9 0 9\nobject 7 3 0x1000 8192 heap - 0 -\n"
              "users 9 - 0x1000 1 0 0:5\nusers 7 3 1 1 1 0:30 1:40\nusers 7 3 0 1 0 0:10\n"
              "users 7 3 5 2 1 1:2\nusers 7 - 0x5000 1 1 1:1\n"))
          .page_users;
  const auto is = [](process_key pid, std::optional<object_id> object, std::uint64_t first,
                     std::uint64_t count, node_id to, const std::vector<thread_lines>& by) {
    return testing::AllOf(
        testing::Field(&user_run::pid, pid), testing::Field(&user_run::object, object),
        testing::Field(&user_run::first, first), testing::Field(&user_run::count, count),
        testing::Field(&user_run::to, to), testing::Field(&user_run::by, by));
  };
  EXPECT_THAT(runs, ElementsAre(is(9, std::nullopt, 0x1000, 1, node_id{0}, {{0, 5}}),
                                is(7, 3, 1, 1, node_id{1}, {{0, 30}, {1, 40}}),
                                is(7, 3, 0, 1, node_id{0}, {{0, 10}}),
                                is(7, 3, 5, 2, node_id{1}, {{1, 2}}),
                                is(7, std::nullopt, 0x5000, 1, node_id{1}, {{1, 1}})));
}

TEST(Sites, OfOneCallerAndAnotherKindAreApart) {
  const auto sites = sites_of(read_counts(counts_with("object 7 1 0x1000 64 heap m 0x5 -\n"
                                                      "object 7 2 0x2000 64 map m 0x5 -\n"
                                                      "object 7 3 0x3000 64 heap m 0x6 -\n"
                                                      "object 8 1 0x3000 64 heap m 0x6 -\n")));
  EXPECT_EQ(sites.size(), 3U);
}

} // namespace
} // namespace nodewise::traffic
