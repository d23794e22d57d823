// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The test of a confirmation against all arrangements of its figures, and against known tables.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <gmock/gmock.h>

#include "tune/location.hpp"
#include "tune/trial.hpp"

namespace nodewise::tune {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

using blocks = std::vector<trial_block>;

/// All ways to give half of a block's figures to the candidate.
std::vector<trial_block> all_arrangements(const std::vector<double>& figures) {
  std::vector<trial_block> all;
  for (unsigned pattern = 0; pattern < (1U << figures.size()); ++pattern) {
    if (2 * static_cast<std::size_t>(std::popcount(pattern)) == figures.size()) {
      trial_block& block = all.emplace_back();
      for (std::size_t i = 0; i < figures.size(); ++i) {
        (((pattern >> i) & 1U) != 0 ? block.candidate : block.reference).push_back(figures[i]);
      }
    }
  }
  return all;
}

/// How many arrangements of two blocks are rejected after the first and after the second.
struct rejections {
  int first = 0;
  int second = 0;
  int all = 0;
};
rejections count_rejections(const std::vector<double>& first, const std::vector<double>& second,
                            std::span<const double> spent) {
  rejections count;
  for (const trial_block& one : all_arrangements(first)) {
    for (const trial_block& two : all_arrangements(second)) {
      const blocks both{one, two};
      count.first += test_faster(std::span(both).first(1), spent, 0).rejected ? 1 : 0;
      count.second += test_faster(both, spent, 0).rejected ? 1 : 0;
      ++count.all;
    }
  }
  return count;
}

TEST(TuneTrial, SpendsTheErrorExactlyOverAllArrangements) {
  const std::vector<double> first{0.3, 0.1, 0.7, 0.2, 1.9, 0.4, 0.9, 0.25};
  const std::vector<double> second{0.5, 0.35, 0.15, 2.5};
  const std::vector<double> spent{0.03, 0.05};
  const rejections found = count_rejections(first, second, spent);
  EXPECT_EQ(found.all, 70 * 6);
  EXPECT_EQ(found.first, 2 * 6); // 2 of 70 are 0.0286; 3 would be 0.043
  EXPECT_LE(found.second, 21);   // 0.05 of 420
  EXPECT_GE(found.second, 19);   // scores rarely tie, so little is left
}

TEST(TuneTrial, HoldsTheErrorWithEqualFigures) {
  const std::vector<double> first{1, 1, 1, 2, 2, 2, 3, 3};
  const std::vector<double> second{1, 2, 2, 3};
  const std::vector<double> spent{0.03, 0.05};
  const rejections found = count_rejections(first, second, spent);
  EXPECT_LE(found.first, 12);
  EXPECT_LE(found.second, 21);
}

TEST(TuneTrial, PCountsArrangements) {
  const std::vector<double> spent{0.05};
  const blocks apart{{{1, 2, 3, 4}, {5, 6, 7, 8}}};
  EXPECT_THAT(test_faster(apart, spent, 0).p, DoubleNear(1.0 / 70, 1e-12));
  EXPECT_TRUE(test_faster(apart, spent, 0).rejected);
  const blocks nearly{{{1, 2, 3, 5}, {4, 6, 7, 8}}};
  EXPECT_THAT(test_faster(nearly, spent, 0).p, DoubleNear(2.0 / 70, 1e-12));
  EXPECT_THAT(test_slower(apart, spent, 0).p, DoubleNear(1, 1e-12));
  EXPECT_FALSE(test_slower(apart, spent, 0).rejected);
}

TEST(TuneTrial, IdenticalFiguresShowNothing) {
  const std::vector<double> spent{0.025, 0.05};
  const blocks same{{{1, 1, 1, 1}, {1, 1, 1, 1}}, {{1, 1}, {1, 1}}};
  EXPECT_FALSE(test_faster(same, spent, 0).rejected);
  EXPECT_EQ(test_faster(same, spent, 0).p, 1);
  EXPECT_TRUE(test_faster(same, spent, 0.01).rejected); // but less than 1 % slower
  const ratio_estimate ratio = estimate_ratio(same, spent);
  EXPECT_EQ(ratio.ratio, 1);
  EXPECT_NEAR(ratio.low, 1, 1e-5);
  EXPECT_NEAR(ratio.high, 1, 1e-5);
}

TEST(TuneTrial, TheIntervalMovesWithTheRatio) {
  const std::vector<double> spent{0.03, 0.05};
  const blocks as_is{{{0.02, 0.01, 0.05, 0.03}, {0.04, 0.06, 0.035, 0.07}},
                     {{0.015, 0.04}, {0.05, 0.045}}};
  blocks slower = as_is;
  for (trial_block& block : slower) {
    for (double& each : block.candidate) {
      each += std::log(1.5);
    }
  }
  const ratio_estimate before = estimate_ratio(as_is, spent);
  const ratio_estimate after = estimate_ratio(slower, spent);
  EXPECT_LT(before.low, before.ratio);
  EXPECT_LT(before.ratio, before.high);
  EXPECT_NEAR(after.ratio, 1.5 * before.ratio, 1e-6);
  EXPECT_NEAR(after.low, 1.5 * before.low, 1e-5);
  EXPECT_NEAR(after.high, 1.5 * before.high, 1e-5);
}

TEST(TuneTrial, TheIntervalEndsWhereTheTestsChange) {
  const std::vector<double> spent{0.05};
  const blocks one{{{0.02, 0.01, 0.05, 0.03}, {0.04, 0.06, 0.035, 0.07}}};
  const ratio_estimate found = estimate_ratio(one, spent);
  EXPECT_TRUE(test_faster(one, spent, std::log(found.high) + 1e-5).rejected);
  EXPECT_FALSE(test_faster(one, spent, std::log(found.high) - 1e-5).rejected);
  EXPECT_TRUE(test_slower(one, spent, std::log(found.low) - 1e-5).rejected);
  EXPECT_FALSE(test_slower(one, spent, std::log(found.low) + 1e-5).rejected);
}

TEST(TuneTrial, WithTooFewRunsTheIntervalIsUnbounded) {
  const blocks two{{{1, 2}, {3, 4}}};
  const std::vector<double> spent{0.05};
  const ratio_estimate found = estimate_ratio(two, spent);
  EXPECT_EQ(found.low, 0);
  EXPECT_EQ(found.high, std::numeric_limits<double>::infinity());
  EXPECT_EQ(estimate_ratio({}, {}).low, 0);
}

TEST(TuneTrial, OneDisturbedRunHidesNoDifference) {
  const blocks disturbed{{{1.0, 1.01, 1.02, 9.0}, {1.1, 1.11, 1.12, 1.13}},
                         {{1.01, 1.02}, {1.1, 1.13}},
                         {{1.01, 1.0}, {1.12, 1.11}}};
  const auto sizes = trial_blocks(8);
  const auto spent = spending(sizes, 8, 0.05);
  EXPECT_TRUE(test_faster(disturbed, spent, 0).rejected);
  EXPECT_NEAR(estimate_ratio(disturbed, spent).ratio, std::exp(-0.1), 0.01);
}

TEST(TuneTrial, LongOnesAreDrawn) {
  // 20 runs of each: 70 * 6^8 arrangements, of which 100 000 are drawn. Both have the same figures
  // in the end, so the p of either test is the same, and at least 1/2 since both together cover all
  // arrangements; four standard errors of a drawn share are 4 * sqrt(1/4 / 100 000) = 0.0063.
  blocks many(1, {{1, 4, 1, 4}, {2, 3, 2, 3}});
  many.resize(4, {{1, 4}, {2, 3}});
  many.resize(9, {{2, 3}, {1, 4}});
  const auto sizes = trial_blocks(20);
  ASSERT_EQ(sizes.size(), many.size());
  const auto spent = spending(sizes, 20, 0.05);
  const trial_test faster = test_faster(many, spent, 0);
  EXPECT_FALSE(faster.rejected);
  EXPECT_GE(faster.p, 0.4937);
  EXPECT_NEAR(faster.p, test_slower(many, spent, 0).p, 0.0126);
}

TEST(TuneTrial, BlocksAndSpending) {
  EXPECT_THAT(trial_blocks(9), ElementsAre(4, 2, 2, 1));
  EXPECT_THAT(trial_blocks(3), ElementsAre(3));
  EXPECT_TRUE(trial_blocks(0).empty());
  const std::vector<std::size_t> sizes{4, 2, 2};
  EXPECT_THAT(spending(sizes, 8, 0.05), ElementsAre(0.025, DoubleNear(0.0375, 1e-12), 0.05));
  EXPECT_TRUE(can_reject(3, 0.05)); // 1 of 20
  EXPECT_FALSE(can_reject(2, 0.05));
  EXPECT_FALSE(can_reject(0, 0.05));
}

TEST(TuneLocation, OfRunsFarApartTheFastestCounts) {
  const std::vector<double> two{0.0, 0.3};
  EXPECT_EQ(skipped_mean(two, 0.02).at, 0);
  EXPECT_EQ(skipped_mean(two, 0.02).runs, 1U);
  const std::vector<double> near{0.0, 0.02};
  EXPECT_NEAR(skipped_mean(near, 0.02).at, 0.01, 1e-12);
  const std::vector<double> mostly_disturbed{0.3, 0.31, 0.0};
  EXPECT_EQ(skipped_mean(mostly_disturbed, 0.02).at, 0);
  EXPECT_EQ(skipped_mean({}, 0.02).runs, 0U);
  EXPECT_EQ(skipped_mean(two, 0).at, 0); // no spread: equal runs only
}

TEST(TuneLocation, SpreadsAreThoseOfANormalDistribution) {
  // The quartiles of the standard normal distribution are at 0.67449.
  const std::vector<double> quartiles{-0.67449, 0, 0.67449};
  EXPECT_NEAR(spread_of(quartiles), 1, 1e-4);
  // A difference of two runs has the spread times the square root of two.
  const std::vector<std::vector<double>> pairs{{0, 0.67449 * std::sqrt(2.0)}, {5}};
  EXPECT_NEAR(pooled_spread(pairs), 1, 1e-4);
  EXPECT_EQ(pooled_spread({}), 0);
}

TEST(TuneLocation, StudentsTIsThatOfTheTables) {
  EXPECT_NEAR(student_975(1), 12.706, 1e-3);
  EXPECT_NEAR(student_975(2), 4.303, 1e-3);
  EXPECT_NEAR(student_975(3), 3.182, 0.03);
  EXPECT_NEAR(student_975(5), 2.571, 0.005);
  EXPECT_NEAR(student_975(10), 2.228, 1e-3);
  EXPECT_NEAR(student_975(30), 2.042, 1e-3);
}

} // namespace
} // namespace nodewise::tune
