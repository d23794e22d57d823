// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What is wrong with runs: figures in which it is known.
#include <cmath>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>

#include "tune/detection.hpp"

namespace nodewise::tune {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

/// Without order or trend: the golden ratio's multiples, -0.01 to 0.01.
std::vector<double> even_noise(std::size_t many) {
  std::vector<double> all;
  for (std::size_t i = 0; i < many; ++i) {
    all.push_back(0.02 * (std::fmod(static_cast<double>(i) * 0.618034, 1) - 0.5));
  }
  return all;
}

std::vector<double> each_minute(std::size_t many) {
  std::vector<double> all(many);
  std::iota(all.begin(), all.end(), 0.0);
  for (double& each : all) {
    each *= 60;
  }
  return all;
}

TEST(TuneDetection, ResidualsLeaveTheCandidatesOut) {
  const std::vector<double> figures{1, 11, 2, 12, 3, 13};
  const std::vector<std::size_t> of{0, 1, 0, 1, 0, 1};
  EXPECT_THAT(residuals(figures, of), ElementsAre(-1, -1, 0, 0, 1, 1));
}

TEST(TuneDetection, ADriftOfTwoPercentAnHourIsFound) {
  std::vector<double> figures = even_noise(60);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    figures[i] = figures[i] / 4 + std::log(1.02) * static_cast<double>(i) / 60;
  }
  const trend found = trend_of(each_minute(60), figures);
  EXPECT_THAT(found.per_hour, DoubleNear(0.02, 0.003));
  EXPECT_LT(found.p, 0.001);
}

TEST(TuneDetection, NoDriftIsNotFound) {
  EXPECT_GT(trend_of(each_minute(60), even_noise(60)).p, 0.5);
  EXPECT_EQ(trend_of(each_minute(7), even_noise(7)).p, 1);
  const std::vector<double> same(20, 0.0);
  EXPECT_EQ(trend_of(each_minute(20), same).p, 1);
  EXPECT_EQ(trend_of(each_minute(20), same).per_hour, 0);
}

TEST(TuneDetection, KendallsPIsThatOfTheFormula) {
  // Eight ascending values: S = 28, variance 8 * 7 * 21 / 18, z = 27 / 8.0829 = 3.3404 (Kendall,
  // Rank Correlation Methods, 4.9).
  const std::vector<double> ascending{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_THAT(trend_of(each_minute(8), ascending).p, DoubleNear(8.366e-4, 1e-6));
}

TEST(TuneDetection, TwoModesAreFound) {
  std::vector<double> figures = even_noise(30);
  for (std::size_t i = 0; i < figures.size(); i += 3) {
    figures[i] += 0.1;
  }
  const modes found = modes_of(figures);
  EXPECT_TRUE(found.two);
  EXPECT_THAT(found.apart, DoubleNear(std::expm1(0.1), 0.01));
  EXPECT_THAT(found.slow_share, DoubleNear(1.0 / 3, 1e-9));
}

TEST(TuneDetection, OneModeOrFewSlowRunsAreNotTwo) {
  EXPECT_FALSE(modes_of(even_noise(30)).two);
  std::vector<double> disturbed = even_noise(30);
  disturbed[3] += 0.3;
  disturbed[9] += 0.3;
  EXPECT_FALSE(modes_of(disturbed).two);
  EXPECT_FALSE(modes_of(std::vector<double>{0, 0, 1, 1}).two);
}

TEST(TuneDetection, DisturbedRunsAreNamed) {
  std::vector<double> figures = even_noise(20);
  figures[4] += 0.3;
  figures[15] -= 0.3; // faster: not disturbed
  EXPECT_THAT(disturbed_runs(figures), ElementsAre(4));
  EXPECT_THAT(disturbed_runs(even_noise(20)), IsEmpty());
  const std::vector<double> four{0, 0, 0, 1};
  EXPECT_THAT(disturbed_runs(four), IsEmpty());
  const std::vector<double> quiet{0, 0, 0, 0, 0, 0.005}; // under 1 %
  EXPECT_THAT(disturbed_runs(quiet), IsEmpty());
}

TEST(TuneDetection, SlowFirstRunsAreFound) {
  const std::vector<std::vector<double>> warm(5, {0.1, 0.0, 0.01});
  EXPECT_THAT(first_runs_of(warm).p, DoubleNear(1.0 / 32, 1e-9));
  EXPECT_THAT(first_runs_of(warm).ratio, DoubleNear(std::exp(0.095), 1e-9));
  const std::vector<std::vector<double>> mixed{{0.1, 0}, {0, 0.1}, {0.3}};
  EXPECT_THAT(first_runs_of(mixed).p, DoubleNear(0.75, 1e-9));
  EXPECT_EQ(first_runs_of({}).p, 1);
  EXPECT_EQ(first_runs_of({}).ratio, 1);
}

} // namespace
} // namespace nodewise::tune
