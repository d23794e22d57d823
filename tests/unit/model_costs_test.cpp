// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/costs.hpp"

#include <ostream>

#include <gmock/gmock.h>

#include <nodewise/error.hpp>

#include "model/price.hpp"
#include "unit/model_machines.hpp"

namespace nodewise {

/// For the names of tests; found by the argument's namespace.
static void PrintTo(const parameter& of, std::ostream* to) {
  *to << of.name << " " << of.value << " " << of.unit;
}

namespace {

using model::costs_of;
using model::hypothesis;
using model::machine_costs;
using model::origin;
using ::testing::Contains;
using ::testing::HasSubstr;

TEST(Costs, FiguresKeepWhereTheyComeFrom) {
  machine two = test::grid(2, 2);
  test::set(two, "bandwidth", 0, 0, 20, "GB/s", "a paper");
  test::set(two, "latency", 0, 0, 100, "ns", "measured here");
  test::set(two, "latency", 0, 1, 150, "ns", "measured here");
  const machine_costs on = costs_of(two);
  EXPECT_TRUE(on.absolute);
  EXPECT_DOUBLE_EQ(on.memory[0].value, 20e9);
  EXPECT_EQ(on.memory[0].from, origin::published);
  EXPECT_DOUBLE_EQ(on.memory[1].value, 20e9);
  EXPECT_EQ(on.memory[1].from, origin::assumed);
  EXPECT_THAT(on.memory[1].source, HasSubstr("as node 0"));
  EXPECT_DOUBLE_EQ(on.latency_ratio(0, 1), 1.5);
  EXPECT_EQ(on.latency[1].from, origin::measured);
  EXPECT_DOUBLE_EQ(on.latency_ratio(1, 0), 1.5);
  EXPECT_EQ(on.latency[2].from, origin::assumed);
  ASSERT_TRUE(on.local_latency_s[0] && on.local_latency_s[1]);
  EXPECT_DOUBLE_EQ(on.local_latency_s[0]->value, 100e-9);
  EXPECT_EQ(on.local_latency_s[1]->from, origin::assumed);
}

/// Two nodes of two cores: what a node's cores draw from their memory, and what all draw from it.
machine contended(double own, double all) {
  machine two = test::grid(2, 2);
  for (const int node : {0, 1}) {
    test::set(two, "bandwidth", node, node, own, "GB/s", "measured");
    test::set(two, "shared_bandwidth", node, node, all, "GB/s", "measured");
  }
  return two;
}

TEST(Costs, WhereAllProcessorsDrawMoreTheOwnOnesAreTheirLimit) {
  const machine_costs on = costs_of(contended(20, 30));
  EXPECT_DOUBLE_EQ(on.memory[0].value, 30e9);
  EXPECT_DOUBLE_EQ(on.core[0].value, 10e9); // half of what both of a node draw
  EXPECT_DOUBLE_EQ(on.shared_efficiency[0].value, 1);
  // A loop on its own memory runs as was measured.
  EXPECT_DOUBLE_EQ(on.core[0].value * 2, 20e9);
}

TEST(Costs, WhereTheyDrawLessTheMemoryLosesByBeingShared) {
  const machine_costs on = costs_of(contended(20, 15));
  EXPECT_DOUBLE_EQ(on.memory[0].value, 20e9);
  EXPECT_DOUBLE_EQ(on.shared_efficiency[0].value, 0.75);
  EXPECT_EQ(on.shared_efficiency[0].from, origin::measured);
  EXPECT_EQ(on.core[0].from, origin::assumed); // nobody measured one
}

TEST(Costs, WhereTheyDrawAsMuchTheMemoryIsTheLimit) {
  const machine_costs on = costs_of(contended(20, 20.1));
  EXPECT_DOUBLE_EQ(on.memory[0].value, 20e9);
  EXPECT_DOUBLE_EQ(on.shared_efficiency[0].value, 1);
}

TEST(Costs, AMachineWithoutFiguresIsGoodForRatiosOnly) {
  const machine_costs on = costs_of(test::grid(4, 2));
  EXPECT_FALSE(on.absolute);
  EXPECT_THAT(on.remarks, Contains(HasSubstr("no bandwidth is known")));
  EXPECT_THAT(on.remarks, Contains(HasSubstr("links are unknown")));
  EXPECT_DOUBLE_EQ(test::rate(on, test::local_loop(on, "triad")) /
                       test::rate(on, test::loop_on(on, "triad", test::on_node(0))),
                   4);
}

TEST(Costs, OfAFigureGivenTwiceTheLastCounts) {
  machine one = test::equal_nodes(1, 2, 10);
  test::set(one, "bandwidth", 0, 0, 12, "GB/s", "given by --set");
  const machine_costs on = costs_of(one);
  EXPECT_DOUBLE_EQ(on.memory[0].value, 12e9);
  EXPECT_EQ(on.memory[0].from, origin::given);
}

TEST(Costs, ABandwidthBetweenNodesIsAPathOrALatency) {
  machine two = test::grid(2, 2);
  test::set(two, "bandwidth", 0, 0, 8, "GB/s", "a paper");
  test::set(two, "bandwidth", 0, 1, 5, "GB/s", "a paper");
  const machine_costs paths = costs_of(two, hypothesis::memory);
  ASSERT_EQ(paths.links.size(), 2U);
  EXPECT_TRUE(paths.links[0].is_path);
  EXPECT_DOUBLE_EQ(paths.links[0].bytes_per_s.value, 5e9);
  EXPECT_EQ(paths.core[0].value, model::unlimited);
  const machine_costs cores = costs_of(two, hypothesis::processors);
  EXPECT_TRUE(cores.links.empty());
  EXPECT_EQ(cores.memory[0].value, model::unlimited);
  EXPECT_DOUBLE_EQ(cores.core[0].value, 4e9);
  EXPECT_DOUBLE_EQ(cores.latency_ratio(0, 1), 1.6);
  EXPECT_DOUBLE_EQ(cores.latency_ratio(1, 0), 1.6);
}

TEST(Costs, DataAcrossASquareTakesBothShortWays) {
  machine square = test::equal_nodes(4, 1, 10);
  for (const auto& [a, b] : {std::pair(0, 1), {1, 3}, {3, 2}, {2, 0}}) {
    test::set(square, "link_bandwidth", a, b, 4, "GB/s");
    test::set(square, "link_bandwidth", b, a, 4, "GB/s");
  }
  const machine_costs on = costs_of(square);
  ASSERT_EQ(on.links.size(), 8U);
  const model::route& across = on.read_ways[0 * 4 + 3];
  ASSERT_EQ(across.size(), 4U);
  for (const model::route_part& part : across) {
    EXPECT_DOUBLE_EQ(part.share, 0.5);
  }
  ASSERT_EQ(on.read_ways[0 * 4 + 1].size(), 1U);
  const model::link& direct = on.links[on.read_ways[0 * 4 + 1].front().link];
  EXPECT_EQ(direct.from, 1U); // what processors of 0 read in 1 comes from 1
  EXPECT_EQ(direct.to, 0U);
  const model::link& back = on.links[on.write_ways[0 * 4 + 1].front().link];
  EXPECT_EQ(back.from, 0U);
}

TEST(Costs, AMemoryWithoutProcessorsIsNearToTheNearest) {
  machine far = test::equal_nodes(2, 2, 10);
  memory_node cxl;
  cxl.id = node_id{2};
  cxl.memory_bytes = 1 << 30;
  cxl.kind = memory_kind::cxl;
  far.nodes.push_back(cxl);
  for (const auto& [from, ns] : {std::pair(0, 250.0), {1, 320.0}}) {
    test::set(far, "latency", from, from, 100, "ns");
    test::set(far, "latency", from, 2, ns, "ns");
    test::set(far, "bandwidth", from, 2, from == 0 ? 5 : 4, "GB/s");
  }
  const machine_costs on = costs_of(far);
  EXPECT_TRUE(on.is_near(0, 2));
  EXPECT_FALSE(on.is_near(1, 2));
  EXPECT_DOUBLE_EQ(on.memory[2].value, 5e9);
  EXPECT_DOUBLE_EQ(on.near_share[2], 0.5);
}

TEST(Costs, EfficiencyIsOfAllCoresDrawingAlike) {
  machine two = test::equal_nodes(2, 6, 20.65);
  test::set(two, "shared_efficiency", 0, 0, 0.91, "ratio");
  const machine_costs on = costs_of(two);
  EXPECT_NEAR(on.far_work(0), 2 / 0.91 - 1, 1e-12);
  EXPECT_NEAR(test::rate(on, test::loop_on(on, "copy", test::on_node(0))), 0.91 * 20.65e9, 1e5);
}

class BadParameter : public ::testing::TestWithParam<parameter> {};

TEST_P(BadParameter, IsRefusedByName) {
  machine two = test::grid(2, 1);
  two.name = "two";
  two.parameters.push_back(GetParam());
  try {
    (void)costs_of(two);
    FAIL() << "accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::input);
    EXPECT_THAT(e.asked(), HasSubstr(GetParam().name));
    EXPECT_THAT(e.hint(), HasSubstr("give"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Costs, BadParameter,
    ::testing::Values(parameter{"bandwidth", node_id{0}, node_id{0}, 20, "MB/s", "x"},
                      parameter{"bandwidth", node_id{0}, node_id{0}, 0, "GB/s", "x"},
                      parameter{"bandwidth", node_id{0}, node_id{0}, 1e300, "GB/s", "x"},
                      parameter{"bandwidth", node_id{0}, node_id{0}, 1e-320, "GB/s", "x"},
                      parameter{"latency", node_id{0}, node_id{1}, -3, "ns", "x"},
                      parameter{"core_bandwidth", node_id{0}, node_id{0},
                                std::numeric_limits<double>::quiet_NaN(), "GB/s", "x"},
                      parameter{"shared_efficiency", node_id{0}, node_id{0}, 1.1, "ratio", "x"}));

TEST(Costs, NodesOutOfOrderAreRefused) {
  machine two = test::grid(2, 1);
  std::swap(two.nodes[0], two.nodes[1]);
  EXPECT_THROW((void)costs_of(two), error);
}

TEST(Costs, NothingIsNearerThanTheNearMemory) {
  machine two = test::equal_nodes(2, 1, 100, 10);
  test::set(two, "latency", 0, 0, 100, "ns");
  test::set(two, "latency", 0, 1, 50, "ns");
  EXPECT_DOUBLE_EQ(costs_of(two).latency_ratio(0, 1), 1);
}

TEST(Costs, ANodeWithoutMemoryTakesItsNearestLatencyAsOne) {
  machine three = test::equal_nodes(3, 1, 100, 10);
  three.nodes[0].memory_bytes = 0;
  test::set(three, "latency", 0, 1, 120, "ns");
  test::set(three, "latency", 0, 2, 180, "ns");
  const machine_costs on = costs_of(three);
  EXPECT_DOUBLE_EQ(on.latency_ratio(0, 1), 1);
  EXPECT_DOUBLE_EQ(on.latency_ratio(0, 2), 1.5);
  EXPECT_DOUBLE_EQ(on.local_latency_s[0]->value, 120e-9);
}

TEST(Costs, MemoriesStayALimitWhereNobodySaysWhatCoresDraw) {
  machine far = test::grid(2, 2);
  test::set(far, "bandwidth", 0, 1, 5, "GB/s");
  const machine_costs on = costs_of(far, hypothesis::processors);
  EXPECT_GT(test::rate(on, test::local_loop(on, "triad")), 0);
  EXPECT_LT(test::rate(on, test::local_loop(on, "triad")), model::unlimited);
}

TEST(Costs, OneNodeHasNoLinksAndLosesNothingToOthers) {
  const machine_costs on = costs_of(test::equal_nodes(1, 2, 10, 5));
  EXPECT_THAT(on.remarks, ::testing::IsEmpty());
}

TEST(Costs, WithoutProcessorsOrMemoryThereIsNothingToPrice) {
  machine empty = test::grid(1, 1);
  empty.nodes[0].memory_bytes = 0;
  EXPECT_THROW((void)costs_of(empty), error);
  machine idle;
  idle.nodes.push_back({node_id{0}, {}, 1 << 30, memory_kind::dram, -1});
  EXPECT_THROW((void)costs_of(idle), error);
}

} // namespace
} // namespace nodewise
