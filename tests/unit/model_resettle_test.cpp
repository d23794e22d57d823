// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/resettle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/model_machines.hpp"

namespace nodewise::model {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

/// Threads on cores 0, 1, ... of two nodes with two cores each; all bytes are read.
traffic reading(const std::vector<std::vector<double>>& bytes) {
  traffic made;
  for (std::size_t t = 0; t < bytes.size(); ++t) {
    made.threads.push_back({.core = t, .read = bytes[t], .written = {0, 0}});
  }
  return made;
}

std::vector<double> read_from(const traffic& what) {
  std::vector<double> sums = {0, 0};
  for (const thread_traffic& thread : what.threads) {
    sums[0] += thread.read[0];
    sums[1] += thread.read[1];
  }
  return sums;
}

TEST(ModelResettle, ConservesBytes) {
  const machine_costs on = costs_of(test::equal_nodes(2, 2, 10));
  random_numbers random(7);
  for (int round = 0; round < 50; ++round) {
    const traffic before = test::random_traffic(random, on, 1e6);
    const double all = total_bytes(before);
    const auto conserves = [&](const traffic& after) {
      EXPECT_NEAR(total_bytes(after), all, 1e-3);
    };
    conserves(placed(on, before, shares_on(std::vector<std::size_t>{1, 1})));
    conserves(placed(on, before, shares_by(on, {3, 1})));
    conserves(moved(before, std::vector<std::size_t>{1, 1}));
    conserves(divided(before, std::vector<std::size_t>{0, 2, 3}));
    conserves(divided(before, std::vector<std::size_t>{3, 2, 1, 0}));
    conserves(mixed(before, moved(before, std::vector<std::size_t>{1, 1}), 0.3));
    conserves(threads_of(before));
  }
}

TEST(ModelResettle, AsManyThreadsKeepTheirWorkAndOthersShareIt) {
  const traffic before = reading({{100, 0}, {20, 40}});
  const traffic same = divided(before, std::vector<std::size_t>{3, 1});
  EXPECT_EQ(same.threads[0].core, 3U);
  EXPECT_THAT(same.threads[0].read, ElementsAre(100, 0));
  EXPECT_THAT(same.threads[1].read, ElementsAre(20, 40));
  const traffic more = divided(before, std::vector<std::size_t>{0, 1, 2, 3});
  for (const thread_traffic& thread : more.threads) {
    EXPECT_THAT(thread.read, ElementsAre(30, 10)); // (100 + 20) / 4, 40 / 4
  }
}

TEST(ModelResettle, PlacesBytesBySharesOfTheThreadsNode) {
  const machine_costs on = costs_of(test::equal_nodes(2, 2, 10));
  const traffic before = reading({{100, 0}, {0, 0}, {60, 20}});
  EXPECT_THAT(read_from(placed(on, before, shares_on(std::vector<std::size_t>{0, 1}))),
              ElementsAre(100, 80));
  EXPECT_THAT(read_from(placed(on, before, shares_by(on, {3, 1}))), ElementsAre(135, 45));
  EXPECT_THAT(read_from(moved(before, std::vector<std::size_t>{1, 1})), ElementsAre(0, 180));
}

TEST(ModelResettle, AProcessorWithHardlyAnyTrafficIsNoThread) {
  const traffic found = threads_of(reading({{0.5, 0.4}, {100, 0}, {0, 50}}));
  ASSERT_EQ(found.threads.size(), 2U);
  EXPECT_THAT(found.threads[0].read, ElementsAre(DoubleEq(100.5), DoubleEq(0.4)));
  EXPECT_THAT(found.threads[1].read, ElementsAre(0, 50));
  EXPECT_EQ(threads_of(reading({{1, 0}, {100, 0}})).threads.size(), 2U); // a hundredth is one
}

TEST(ModelResettle, MeasuresRemoteTrafficAndConcentration) {
  const machine_costs on = costs_of(test::equal_nodes(2, 2, 10));
  const std::vector<std::size_t> local = {0, 1};
  EXPECT_DOUBLE_EQ(share_elsewhere(on, reading({{30, 10}, {20, 0}, {20, 20}}), local), 0.3);
  EXPECT_DOUBLE_EQ(concentration(reading({{80, 0}}), 4), 1);
  EXPECT_DOUBLE_EQ(concentration(reading({{20, 0}, {0, 20}}), 2), 0);
  EXPECT_DOUBLE_EQ(concentration(reading({{60, 0}, {0, 20}}), 2), 0.5); // halfway from 1/2 to 1
  EXPECT_DOUBLE_EQ(concentration(reading({{60, 0}, {0, 20}}), 1), 1);
}

} // namespace
} // namespace nodewise::model
