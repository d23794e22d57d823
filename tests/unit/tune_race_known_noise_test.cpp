// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Races whose noise has a known bound, and whose first run counts: those of virtual machines.
#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "unit/tune_race_drive.hpp"

namespace nodewise::tune {
namespace {

TEST(TuneRace, KnownNoiseSetsMoreAsideAfterTheFirstBlock) {
  const std::vector<double> truth{2, 1, 1.3, 1.4, 1.5, 2};
  const auto race_runs_of_the_second = [&](double most_spread) {
    race one({.candidates = truth.size(), .predicted = {}, .most_spread = most_spread});
    drive(one, [&](const run_request& run) { return truth[run.candidate]; });
    EXPECT_EQ(one.standing().leader, 1U);
    return one.standing().candidates[2].race_runs;
  };
  EXPECT_EQ(race_runs_of_the_second(std::numeric_limits<double>::infinity()), 2U);
  EXPECT_EQ(race_runs_of_the_second(0.08), 1U);
}

TEST(TuneRace, ALeadFarBeyondKnownNoiseIsConfirmedByThreeRunsOfBoth) {
  const auto confirmed = [](double leaders, double most_spread) {
    const std::vector<double> truth{1, leaders, 1};
    race one({.candidates = truth.size(), .predicted = {}, .most_spread = most_spread});
    drive(one, [&](const run_request& run) { return truth[run.candidate]; });
    EXPECT_EQ(one.result(), verdict::winner);
    return one.standing().candidates[1].confirmation_runs;
  };
  EXPECT_EQ(confirmed(0.5, 0.1), 3U);
  EXPECT_EQ(confirmed(0.9, 0.1), 4U);
  EXPECT_EQ(confirmed(0.5, std::numeric_limits<double>::infinity()), 4U);
}

TEST(TuneRace, AFarLeadThatItsThreeRunsDoNotConfirmIsNotClaimed) {
  race one({.candidates = 3, .predicted = {}, .most_spread = 0.1});
  int runs = 0;
  drive(one, [&](const run_request& run) {
    const bool ahead = run.in != phase::confirmation && run.candidate == 1;
    return ahead ? 0.5 : 1 + 0.2 * (++runs % 3);
  });
  EXPECT_EQ(one.result(), verdict::not_separated);
  EXPECT_EQ(one.standing().candidates[1].confirmation_runs, 3U);
}

TEST(TuneRace, AWarmUpThatCountsIsTheFirstRunOfTodaysSetting) {
  const std::vector<double> truth{2, 1, 1.1, 1.2, 1.3, 1.4};
  race one({.candidates = truth.size(), .warm_up_counts = true, .predicted = {}});
  const auto made = drive(one, [&](const run_request& run) { return truth[run.candidate]; });
  EXPECT_EQ(made.front(), (run_request{todays, 0, phase::warm_up}));
  const auto in_first_block = [&](std::size_t candidate) {
    return std::ranges::count(made, run_request{candidate, 0, phase::race});
  };
  EXPECT_EQ(in_first_block(todays), 0);
  EXPECT_EQ(in_first_block(1), 1);
  const race_standing last = one.standing();
  EXPECT_EQ(last.result, verdict::winner);
  EXPECT_EQ(last.runs, made.size());
  EXPECT_EQ(last.candidates[todays].race_runs, last.candidates[1].race_runs);
  EXPECT_DOUBLE_EQ(last.candidates[2].to_todays.ratio, 0.55);
}

} // namespace
} // namespace nodewise::tune
