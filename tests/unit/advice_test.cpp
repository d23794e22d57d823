// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/advice.hpp>

#include <gmock/gmock.h>

#include <nodewise/error.hpp>

#include "unit/model_machines.hpp"

namespace nodewise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<cpu_id> cpus(std::initializer_list<int> numbers) {
  std::vector<cpu_id> all;
  for (const int number : numbers) {
    all.push_back(cpu_id{number});
  }
  return all;
}

TEST(ArrangementAdvice, ThreadsOnAllNodesKeepTheirBlocks) {
  const topology on(test::equal_nodes(4, 2, 10, 8));
  const auto advice = advise_arrangement(on, cpus({0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(advice.best, arrangement::blocked);
  EXPECT_THAT(advice.idle, IsEmpty());
}

// Hager and Wellein, problem 8.3: fewer threads than nodes.
TEST(ArrangementAdvice, ThreadsThatSaturateTheirMemoryUseTheIdleOnesToo) {
  const topology on(test::equal_nodes(4, 2, 10, 8));
  const auto advice = advise_arrangement(on, cpus({0, 1}));
  EXPECT_EQ(advice.best, arrangement::interleaved);
  EXPECT_EQ(advice.idle.to_string(), "1-3");
  // Far memory is assumed to take 1.5 times as long: two cores draw 2 * 8 / 1.375 of it.
  EXPECT_NEAR(advice.gain, 16 / 1.375 / 10, 1e-3);
}

TEST(ArrangementAdvice, ThreadsThatCannotSaturateItStayAtHome) {
  const topology on(test::equal_nodes(4, 2, 10, 4));
  const auto advice = advise_arrangement(on, cpus({0, 1}));
  EXPECT_EQ(advice.best, arrangement::blocked);
  EXPECT_NEAR(advice.gain, 1.375, 1e-3);
}

TEST(ArrangementAdvice, WhoeverComesNeedsPagesInTurn) {
  const topology on(test::equal_nodes(2, 2, 10));
  const auto advice = advise_arrangement(on, cpus({0, 1, 2, 3}), page_users::anyone);
  EXPECT_EQ(advice.best, arrangement::interleaved);
  EXPECT_NEAR(advice.gain, 2, 1e-6);
}

TEST(ArrangementAdvice, OneNodeHasNothingToChoose) {
  const topology on(test::equal_nodes(1, 4, 10));
  EXPECT_EQ(advise_arrangement(on, cpus({0, 1})).best, arrangement::blocked);
  EXPECT_DOUBLE_EQ(advise_arrangement(on, cpus({0, 1})).gain, 1);
}

TEST(ArrangementAdvice, SaysWhatItDoesNotKnow) {
  EXPECT_THAT(advise_arrangement(topology(test::grid(2, 2)), cpus({0})).unknown, SizeIs(5));
}

TEST(ArrangementAdvice, ThreadsMustBeAllowedThere) {
  const topology on(test::grid(2, 2), cpu_set::parse("0-1"), node_set::parse("0-1"));
  EXPECT_THROW((void)advise_arrangement(on, {}), error);
  EXPECT_THROW((void)advise_arrangement(on, cpus({2})), error);
  EXPECT_THROW((void)advise_arrangement(on, cpus({99})), error);
}

TEST(Weights, AreSmallAndInProportion) {
  const auto weights = [](std::initializer_list<double> gb_s) {
    machine made = test::grid(static_cast<int>(gb_s.size()), 1);
    std::vector<node_id> nodes;
    for (const double each : gb_s) {
      const int node = static_cast<int>(nodes.size());
      test::set(made, "bandwidth", node, node, each, "GB/s");
      nodes.push_back(node_id{node});
    }
    return weights_from_bandwidths(topology(made), nodes);
  };
  EXPECT_THAT(weights({20, 20}), ElementsAre(1, 1));
  EXPECT_THAT(weights({400, 100}), ElementsAre(4, 1));
  EXPECT_THAT(weights({100, 150}), ElementsAre(2, 3));
  EXPECT_THAT(weights({38.671, 20.489}), ElementsAre(11, 6));
  EXPECT_THAT(weights({1000, 1}), ElementsAre(255, 1));
  EXPECT_THAT(weights_from_bandwidths(topology(test::grid(2, 1)), {}), IsEmpty());
}

TEST(Weights, AreEqualWhereNothingIsKnown) {
  const std::vector<node_id> nodes = {node_id{0}, node_id{1}};
  EXPECT_THAT(weights_from_bandwidths(topology(test::grid(2, 1)), nodes), ElementsAre(1, 1));
}

TEST(Weights, OfANodeWithoutMemoryAreRefused) {
  const std::vector<node_id> nodes = {node_id{7}};
  EXPECT_THROW((void)weights_from_bandwidths(topology(test::grid(2, 1)), nodes), error);
}

TEST(Chunk, IsWholePages) {
  EXPECT_EQ(chunk_of_whole_pages(8, 4096), 512U);
  EXPECT_EQ(chunk_of_whole_pages(8, 4096, 4), 2048U);
  EXPECT_EQ(chunk_of_whole_pages(8, 2 << 20), 262144U);
  EXPECT_EQ(chunk_of_whole_pages(24, 4096), 512U) << "three pages: the least that end with one";
  EXPECT_EQ(chunk_of_whole_pages(24, 4096, 4), 1024U);
  EXPECT_EQ(chunk_of_whole_pages(8192, 4096), 1U);
  for (const std::size_t bytes : {1U, 3U, 12U, 40U, 100U, 4096U, 10000U}) {
    EXPECT_EQ(chunk_of_whole_pages(bytes, 4096, 3) * bytes % 4096, 0U);
  }
  EXPECT_THROW((void)chunk_of_whole_pages(0, 4096), error);
}

} // namespace
} // namespace nodewise
