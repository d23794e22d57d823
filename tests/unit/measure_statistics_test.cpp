// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Medians and their intervals against what is known of coins, and of noise that was recorded.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <gmock/gmock.h>

#include "measure/statistics.hpp"

namespace nodewise::measure {
namespace {

using testing::DoubleNear;

/// Samples as a machine gives them that is shared: mostly alike, some slow.
std::vector<double> noisy(std::mt19937& dice, std::size_t many) {
  std::lognormal_distribution<double> usual(3, 0.02);
  std::bernoulli_distribution is_disturbed(0.1);
  std::uniform_real_distribution<double> slower(0.5, 1);
  std::vector<double> all(many);
  std::ranges::generate(all, [&] { return usual(dice) * (is_disturbed(dice) ? slower(dice) : 1); });
  return all;
}

TEST(MedianBounds, AreThoseOfTheTables) {
  // Conover, Practical Nonparametric Statistics, table A3: n = 10 leaves one out at each end with
  // 0.9785, n = 20 five with 0.9586.
  const median_bounds ten = bounds_of_median(10);
  EXPECT_EQ(ten.first, 1U);
  EXPECT_EQ(ten.last, 8U);
  EXPECT_THAT(ten.confidence, DoubleNear(0.97852, 1e-5));
  const median_bounds twenty = bounds_of_median(20);
  EXPECT_EQ(twenty.first, 5U);
  EXPECT_EQ(twenty.last, 14U);
  EXPECT_THAT(twenty.confidence, DoubleNear(0.95861, 1e-5));
}

TEST(MedianBounds, OfFewSamplesAreAllOfThemAndPromiseLess) {
  const median_bounds six = bounds_of_median(6);
  EXPECT_EQ(six.first, 0U);
  EXPECT_EQ(six.last, 5U);
  EXPECT_THAT(six.confidence, DoubleNear(0.96875, 1e-9));
  const median_bounds five = bounds_of_median(5);
  EXPECT_EQ(five.last, 4U);
  EXPECT_THAT(five.confidence, DoubleNear(0.9375, 1e-9));
  EXPECT_EQ(bounds_of_median(1).confidence, 0);
  EXPECT_EQ(bounds_of_median(0).confidence, 0);
}

TEST(MedianBounds, OfManyAreStillCounted) {
  // 0.95 of a normal distribution is 1.96 times sqrt(n) / 2 to either side.
  const median_bounds many = bounds_of_median(10'000);
  EXPECT_NEAR(static_cast<double>(many.first), 5'000 - 98, 2);
  EXPECT_GE(many.confidence, 0.95);
}

TEST(Estimate, HoldsTheMedianAsOftenAsItSays) {
  std::mt19937 dice(1);
  const std::vector<double> whole = noisy(dice, 200'001);
  std::vector<double> sorted = whole;
  std::ranges::nth_element(sorted, sorted.begin() + 100'000);
  const double truth = sorted[100'000];
  // Each run holds it with 0.95 or more. Of so many runs fewer than 0.94 do with less than
  // exp(-22000 KL) = 3e-10, by Chernoff: KL = 0.94 ln(0.94 / 0.95) + 0.06 ln(0.06 / 0.05) =
  // 0.99e-3.
  for (const std::size_t samples : {6U, 10U, 25U}) {
    int held = 0;
    constexpr int runs = 22'000;
    for (int run = 0; run < runs; ++run) {
      const estimate found = summarize(noisy(dice, samples));
      held += found.low <= truth && truth <= found.high ? 1 : 0;
    }
    EXPECT_GE(held, 0.94 * runs) << samples << " samples";
  }
}

TEST(Estimate, OfTwoRunsOnOneMachineMeets) {
  std::mt19937 dice(2);
  int apart = 0;
  constexpr int runs = 4'000;
  for (int run = 0; run < runs; ++run) {
    const estimate one = summarize(noisy(dice, 8));
    const estimate other = summarize(noisy(dice, 8));
    apart += compare(one, other).significant() ? 1 : 0;
  }
  // The interval of eight samples is all of them, and two of these are apart only if all of one are
  // below all of the other: whatever the noise, 2 of C(16, 8) = 12870 orders. That is 0.62 runs,
  // and more than ten with less than 0.62^11 / 11! = 2e-10.
  EXPECT_LE(apart, 10);
}

TEST(Estimate, HasTheUsualQuartiles) {
  const estimate found = summarize(std::array{7.0, 1.0, 3.0, 5.0, 9.0});
  EXPECT_EQ(found.median, 5);
  EXPECT_EQ(found.p25, 3);
  EXPECT_EQ(found.p75, 7);
  EXPECT_EQ(summarize(std::array{1.0, 2.0}).median, 1.5);
  EXPECT_EQ(summarize({}).samples, 0U);
}

TEST(Estimate, IsNoSurerThanItsVisits) {
  // Three visits of three: what differs is when, not which.
  const std::array samples{5.0, 5.1, 4.9, 6.0, 6.1, 5.9, 7.0, 7.1, 6.9};
  const estimate alone = summarize(samples);
  const estimate found = summarize(samples, std::array<std::size_t, 3>{3, 3, 3});
  EXPECT_EQ(found.median, 6);
  EXPECT_EQ(found.samples, 9U);
  EXPECT_EQ(found.visits, 3U);
  EXPECT_EQ(alone.visits, 9U);
  EXPECT_GT(alone.confidence, 0.95);
  EXPECT_THAT(found.confidence, DoubleNear(0.75, 1e-9)); // 1 - 2/8
  EXPECT_LE(found.low, std::min(alone.low, 5.0));
  EXPECT_GE(found.high, std::max(alone.high, 7.0));
  const std::array disturbed{5.0, 5.1, 4.9, 5.0, 5.1, 4.9, 9.0, 9.1, 9.0, 9.2, 9.1, 9.0, 9.0};
  EXPECT_NEAR(summarize(disturbed, std::array<std::size_t, 3>{3, 3, 7}).median, 5, 1e-9)
      << "one visit of three took more samples";
  EXPECT_EQ(summarize(samples, std::array<std::size_t, 2>{3, 3}).visits, 9U) << "not all of them";
}

/// A machine that drifts: each visit finds it in another state, and all samples of one find the
/// same.
struct drifting {
  std::mt19937& dice;
  std::normal_distribution<double> state{20, 0.4};
  std::normal_distribution<double> noise{0, 0.05};

  estimate after_visits(std::size_t many, bool all_at_once) {
    std::vector<double> samples;
    double now = state(dice);
    for (std::size_t visit = 0; visit < many; ++visit) {
      now = all_at_once ? now : state(dice);
      for (int i = 0; i < 3; ++i) {
        samples.push_back(now + noise(dice));
      }
    }
    return summarize(samples, std::vector<std::size_t>(many, 3));
  }
};

TEST(Estimate, OfTwoRunsOnADriftingMachineMeetsIfVisitsAreApart) {
  std::mt19937 dice(4);
  drifting machine{dice};
  constexpr int runs = 2'000;
  for (const bool all_at_once : {false, true}) {
    int met = 0;
    for (int run = 0; run < runs; ++run) {
      const estimate one = machine.after_visits(6, all_at_once);
      met += compare(one, machine.after_visits(6, all_at_once)).significant() ? 0 : 1;
    }
    if (all_at_once) {
      // What visits are for. Intervals are no longer than the range of 18 samples of the noise, on
      // average 3.7 of its deviations; two meet if the states differ by no more than both together,
      // with at most 0.71 (the peak of the difference's density, whose deviation is 0.57) times
      // 2 * 3.7 * 0.05, or 0.27. More than half of 2000 do with less than exp(-2000 KL(0.5, 0.27)),
      // or e^-230.
      EXPECT_LT(met, 0.5 * runs);
    } else {
      // The interval holds the medians of all six visits. These are alike in both runs: all of one
      // are below all of the other in 2 of C(12, 6) = 924 orders, 4.3 runs of 2000. More than 25
      // are with less than 2 e^-4.3 4.3^26 / 26! = 2e-12.
      EXPECT_GE(met, runs - 25);
    }
  }
}

TEST(TwoHumps, AreToldFromOne) {
  std::mt19937 dice(3);
  std::normal_distribution<double> near(20, 0.1);
  std::normal_distribution<double> far(13, 0.1);
  // Each hump needs a fifth of the samples: the smaller one has less with no more than
  // exp(-1000 KL(0.2, 0.3)) = 7e-12.
  for (const double share : {0.3, 0.5, 0.7}) {
    std::bernoulli_distribution is_far(share);
    std::vector<double> both(1'000);
    std::ranges::generate(both, [&] { return is_far(dice) ? far(dice) : near(dice); });
    EXPECT_TRUE(summarize(both).two_humped) << share;
  }
  // Humps are a twentieth of the median apart or more, ten deviations here, and four samples or
  // more are on either side: four beyond five deviations, 1000 * 2 * C(20, 4) * (3e-7)^4 = 8e-20.
  int wrong = 0;
  for (int run = 0; run < 1'000; ++run) {
    std::vector<double> one(20);
    std::ranges::generate(one, [&] { return near(dice); });
    wrong += summarize(one).two_humped ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(TwoHumps, AreNotAFewOutliers) {
  std::vector<double> samples(20, 20.0);
  std::iota(samples.begin(), samples.end(), 20.0);
  std::ranges::transform(samples, samples.begin(), [](double x) { return 20 + x / 100; });
  samples.back() = 5;
  samples.front() = 6;
  EXPECT_FALSE(summarize(samples).two_humped);
}

TEST(Change, IsSignificantOnlyWhereIntervalsAreApart) {
  const estimate old = summarize(std::array{10.0, 10.1, 10.2, 10.3, 10.4, 10.5});
  const estimate less = summarize(std::array{8.0, 8.1, 8.2, 8.3, 8.4, 8.5});
  const estimate alike = summarize(std::array{10.4, 10.5, 10.6, 10.7, 10.8, 10.9});
  EXPECT_TRUE(compare(old, less).significant());
  EXPECT_NEAR(compare(old, less).ratio, 8.25 / 10.25, 1e-9);
  EXPECT_FALSE(compare(old, alike).significant());
  // Of three samples nobody knows enough: no change is told, and not that there is none.
  const change of_few = compare(old, summarize(std::array{1.0, 1.1, 1.2}));
  EXPECT_FALSE(of_few.significant());
  EXPECT_TRUE(of_few.apart);
  EXPECT_FALSE(of_few.enough);
  EXPECT_FALSE(compare(old, alike).apart);
  EXPECT_TRUE(compare(old, alike).enough);
}

} // namespace
} // namespace nodewise::measure
