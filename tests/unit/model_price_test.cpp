// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Prices against published figures and against answers that can be worked out by hand.
#include "model/price.hpp"

#include <gmock/gmock.h>

#include <nodewise/error.hpp>

#include "model/predict.hpp"
#include "unit/model_machines.hpp"

namespace nodewise {
namespace {

using model::costs_of;
using model::hypothesis;
using model::machine_costs;
using model::price;
using model::resource_kind;

double error_of(double predicted, double published) {
  return std::abs(predicted / published - 1);
}

// HLRS: two sockets, all pages in one: 0.443941 s; by parallel first touch 0.230432 s.
TEST(Price, HlrsGainFromTheLocalFigureAlone) {
  const double bytes = 4.0 * 4 * (1 << 29);
  const machine_costs on = costs_of(test::equal_nodes(2, 4, bytes / 0.230432 / 2 / 1e9));
  const double usual = test::rate(on, test::loop_on(on, "multiply-add", test::on_node(0)));
  const double cured = test::rate(on, test::local_loop(on, "multiply-add"));
  EXPECT_LT(error_of(cured / usual, 1.93), 0.05);
}

struct stream_row {
  const char* kernel;
  double serial;
  double parallel;
};
constexpr stream_row rwth[] = {
    {"copy", 18.8, 41.3}, {"scale", 18.5, 39.3}, {"add", 18.1, 40.3}, {"triad", 18.2, 40.4}};

TEST(Price, RwthStreamsWithNothingFitted) {
  for (const stream_row& row : rwth) {
    const machine_costs on = costs_of(test::equal_nodes(2, 6, row.parallel / 2));
    const double usual = test::rate(on, test::loop_on(on, row.kernel, test::on_node(0)));
    EXPECT_LT(error_of(usual / 1e9, row.serial), 0.12) << row.kernel;
  }
}

TEST(Price, RwthStreamsByAnEfficiencyFromCopy) {
  const double efficiency = rwth[0].serial / (rwth[0].parallel / 2);
  for (const stream_row& row : std::span(rwth).subspan(1)) {
    machine two = test::equal_nodes(2, 6, row.parallel / 2);
    test::set(two, "shared_efficiency", 0, 0, efficiency, "ratio", "fitted on copy");
    const machine_costs on = costs_of(two);
    const double usual = test::rate(on, test::loop_on(on, row.kernel, test::on_node(0)));
    EXPECT_LT(error_of(usual / 1e9, row.serial), 0.05) << row.kernel;
  }
}

/// Two nodes of which one figure each way is known.
machine_costs two_nodes(int cores, double local, double remote, hypothesis of) {
  machine two = test::grid(2, cores);
  test::set(two, "bandwidth", 0, 0, local, "GB/s", "TBB20");
  test::set(two, "bandwidth", 0, 1, remote, "GB/s", "TBB20");
  return costs_of(two, of);
}

TEST(Price, BaselinesOfTbb20UnderTheRightHypothesis) {
  const machine_costs yuca = two_nodes(8, 8.219, 5.110, hypothesis::processors);
  EXPECT_LT(error_of(test::rate(yuca, test::loop_on(yuca, "triad", test::on_node(0))), 10.722e9),
            0.06);
  const machine_costs aloe = two_nodes(16, 38.671, 20.489, hypothesis::memory);
  EXPECT_LT(error_of(test::rate(aloe, test::loop_on(aloe, "triad", test::on_node(0))), 38.604e9),
            0.06);
}

TEST(Price, OneNodeIsTheRoofline) {
  for (const int cores : {1, 2, 3, 4, 8}) {
    const machine_costs on = costs_of(test::equal_nodes(1, cores, 20, 6));
    EXPECT_NEAR(test::rate(on, test::local_loop(on, "triad")), std::min(20.0, 6.0 * cores) * 1e9,
                1e5);
    model::traffic bound = model::traffic_of(on, test::local_loop(on, "triad"));
    for (model::thread_traffic& thread : bound.threads) {
      thread.most = 2e9; // as a kernel with much arithmetic
    }
    EXPECT_NEAR(price(on, bound).bytes_per_s(), std::min(20.0, 2.0 * cores) * 1e9, 1e5);
  }
}

TEST(Price, HardwareThreadsShareTheLinesOfTheirCore) {
  const machine_costs on = costs_of(test::equal_nodes(1, 2, 100, 6, 2));
  ASSERT_EQ(on.cores.size(), 2U);
  model::loop four = test::local_loop(on, "load");
  four.cores = {0, 0, 1, 1};
  EXPECT_NEAR(test::rate(on, four), 12e9, 1e3);
  four.cores = {0, 0, 1}; // a third of the work each: the core with one thread is done early
  EXPECT_NEAR(test::rate(on, four), 9e9, 1e5);
}

TEST(Price, AThreadThatEndsLeavesItsShareToTheOthers) {
  const machine_costs on = costs_of(test::equal_nodes(1, 2, 10, 8));
  const model::traffic uneven = {{{0, {2e9}, {0}}, {1, {6e9}, {0}}}};
  // 5 GB/s each for 0.4 s, then 4 GB at the core's 8 GB/s.
  EXPECT_NEAR(price(on, uneven).seconds, 0.9, 1e-9);
  EXPECT_NEAR(price(on, uneven, model::work::pooled).seconds, 0.8, 1e-9);
}

TEST(Price, WhatBindsComesFirst) {
  const machine_costs on = costs_of(test::equal_nodes(2, 4, 10));
  const model::prediction usual =
      price(on, model::traffic_of(on, test::loop_on(on, "triad", test::on_node(1))));
  ASSERT_FALSE(usual.loads.empty());
  EXPECT_EQ(usual.loads.front().kind, resource_kind::memory);
  EXPECT_EQ(usual.loads.front().at, 1U);
  EXPECT_NEAR(usual.loads.front().busy, 1, 1e-9);
  EXPECT_NEAR(usual.loads.front().bound, 1, 1e-9);
  EXPECT_EQ(usual.loads.size(), 1U) << "memory 0 moves nothing";
}

TEST(Price, ReadsAndWritesCrossALinkInTheirOwnDirections) {
  machine two = test::equal_nodes(2, 1, 100);
  test::set(two, "link_bandwidth", 0, 1, 6, "GB/s");
  test::set(two, "link_bandwidth", 1, 0, 3, "GB/s");
  const machine_costs on = costs_of(two);
  const auto seconds = [&](double read, double written) {
    return price(on, {{{0, {0, read}, {0, written}}}}).seconds;
  };
  EXPECT_NEAR(seconds(6e9, 0), 1, 1e-9);   // from 1 to 0
  EXPECT_NEAR(seconds(0, 6e9), 2, 1e-9);   // from 0 to 1
  EXPECT_NEAR(seconds(6e9, 3e9), 1, 1e-9); // both at once
}

TEST(Price, NothingTakesNoTime) {
  const machine_costs on = costs_of(test::equal_nodes(2, 1, 10));
  EXPECT_EQ(price(on, {}).seconds, 0);
  EXPECT_EQ(price(on, {{{0, {0, 0}, {0, 0}}}}).seconds, 0);
}

TEST(Price, TrafficToANodeWithoutMemoryIsRefused) {
  machine two = test::equal_nodes(2, 1, 10);
  two.nodes[1].memory_bytes = 0;
  const machine_costs on = costs_of(two);
  EXPECT_THROW((void)price(on, {{{0, {0, 1}, {0, 0}}}}), error);
}

// Hager and Wellein, figure 8.4, in units of one memory, with what is assumed of that machine.
TEST(Price, FourOpteronsScaleOnlyWithFirstTouch) {
  machine square = test::equal_nodes(4, 4, 1, 0.5);
  for (const auto& [a, b] : {std::pair(0, 1), {1, 3}, {3, 2}, {2, 0}}) {
    test::set(square, "link_bandwidth", a, b, 0.6, "GB/s");
    test::set(square, "link_bandwidth", b, a, 0.6, "GB/s");
  }
  const machine_costs on = costs_of(square);
  for (const std::size_t per_node : {1U, 2U, 4U}) {
    model::loop of = test::loop_on(on, "schoenauer", test::on_node(0));
    std::erase_if(of.cores, [&](std::size_t core) { return core % 4 >= per_node; });
    EXPECT_NEAR(test::rate(on, of) / 1e9, 1, 1e-6) << "never more than one memory";
    of.maps.assign(4, model::first_touch(on, of));
    EXPECT_NEAR(test::rate(on, of) / 1e9, per_node == 1 ? 2 : 4, 1e-2);
    of.maps.assign(4, test::in_turn_over(4));
    EXPECT_GT(test::rate(on, of) / 1e9, 1.3);
    EXPECT_LE(test::rate(on, of) / 1e9, per_node == 1 ? 2 : 4);
  }
}

} // namespace
} // namespace nodewise
