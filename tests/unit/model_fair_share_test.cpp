// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/fair_share.hpp"

#include <cmath>

#include <gmock/gmock.h>

#include "model/chunks.hpp"

namespace {

using nodewise::model::fair_share;
using nodewise::model::flow;
using nodewise::model::own_limit;
using ::testing::DoubleNear;
using ::testing::ElementsAre;

flow over(std::vector<nodewise::model::resource_use> uses, double members = 1) {
  return {.uses = std::move(uses), .members = members};
}

TEST(FairShare, OneResourceIsSharedEvenly) {
  fair_share share({12});
  share.solve({over({{0, 1}}), over({{0, 1}}), over({{0, 2}})});
  EXPECT_THAT(share.rates(),
              ElementsAre(DoubleNear(3, 1e-9), DoubleNear(3, 1e-9), DoubleNear(3, 1e-9)));
}

// The parking lot of Bertsekas and Gallager, section 6.5.2: one flow over all links, one over each.
TEST(FairShare, WhoIsNotHeldUpTakesWhatIsLeft) {
  fair_share share({1, 1, 2});
  share.solve({over({{0, 1}, {1, 1}, {2, 1}}), over({{0, 1}}), over({{1, 1}}), over({{2, 1}})});
  EXPECT_THAT(share.rates(), ElementsAre(DoubleNear(0.5, 1e-9), DoubleNear(0.5, 1e-9),
                                         DoubleNear(0.5, 1e-9), DoubleNear(1.5, 1e-9)));
  EXPECT_EQ(share.limiters()[3], 2U);
}

TEST(FairShare, AnOwnLimitComesBeforeTheShare) {
  fair_share share({10});
  flow slow = over({{0, 1}});
  slow.most = 2;
  share.solve({slow, over({{0, 1}})});
  EXPECT_THAT(share.rates(), ElementsAre(DoubleNear(2, 1e-9), DoubleNear(8, 1e-9)));
  EXPECT_EQ(share.limiters()[0], own_limit);
  EXPECT_EQ(share.limiters()[1], 0U);
}

TEST(FairShare, MembersCountEach) {
  fair_share share({10});
  share.solve({over({{0, 1}}, 3), over({{0, 1}}, 2)});
  EXPECT_THAT(share.rates(), ElementsAre(DoubleNear(2, 1e-9), DoubleNear(2, 1e-9)));
}

TEST(FairShare, WhatIsNotActiveTakesNothing) {
  fair_share share({10});
  flow idle = over({{0, 1}});
  idle.active = false;
  share.solve({idle, over({{0, 1}})});
  EXPECT_THAT(share.rates(), ElementsAre(0, DoubleNear(10, 1e-9)));
}

TEST(FairShare, ASmallUseIsNotLostBesideALargeOne) {
  fair_share share({1, 0.01});
  share.solve({over({{0, 1}, {1, 1}}), over({{0, 1e-17}})});
  EXPECT_DOUBLE_EQ(share.rates()[0], 0.01);
  EXPECT_NEAR(share.rates()[1] / 0.99e17, 1, 1e-6);
}

TEST(FairShare, EndsForUsesOfAnySize) {
  nodewise::model::random_numbers random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> capacities(4);
    for (double& capacity : capacities) {
      capacity = std::pow(10, 6 * random.uniform() - 3);
    }
    std::vector<flow> flows(5);
    for (flow& each : flows) {
      for (std::size_t r = 0; r < capacities.size(); ++r) {
        if (random.next() % 2 == 0) {
          each.uses.push_back({r, std::pow(10, -20 * random.uniform())});
        }
      }
    }
    fair_share share(capacities);
    share.solve(flows);
    for (std::size_t r = 0; r < capacities.size(); ++r) {
      double used = 0;
      for (std::size_t f = 0; f < flows.size(); ++f) {
        for (const auto& use : flows[f].uses) {
          used += use.resource == r ? use.amount * share.rates()[f] : 0;
        }
      }
      ASSERT_LE(used, capacities[r] * (1 + 1e-6)) << round;
    }
  }
}

TEST(FairShare, NothingInTheWayIsInfinite) {
  fair_share share({1});
  share.solve({over({}), over({{0, 1}})});
  EXPECT_EQ(share.rates()[0], std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(share.rates()[1], 1);
}

} // namespace
