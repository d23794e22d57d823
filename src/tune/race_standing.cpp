// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What is known of a race: for its progress and its final table.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "tune/location.hpp"
#include "tune/race.hpp"

namespace nodewise::tune {

namespace {

constexpr ratio_estimate unbounded{1, 0, std::numeric_limits<double>::infinity()};

} // namespace

race_standing race::standing() const {
  race_standing now{.candidates = {},
                    .result = verdict_,
                    .leader = leader_,
                    .gain = unbounded,
                    .p = 1,
                    .warm_ups = warm_ups_,
                    .runs = runs_,
                    .most_runs_left = most_runs_left()};
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    now.candidates.push_back(standing_of(i));
  }
  if (!trial_.empty()) {
    now.gain = estimate_ratio(trial_, spent_);
    now.p = test_faster(trial_, spent_, 0).p;
  }
  return now;
}

candidate_standing race::standing_of(std::size_t candidate) const {
  const entry& of = entries_[candidate];
  return {.state = of.state,
          .race_runs = of.figures.size() - of.confirmation_runs,
          .confirmation_runs = of.confirmation_runs,
          .median = median_of(of.figures),
          .to_todays = ratio(candidate, todays),
          .to_leader = leader_ ? ratio(candidate, *leader_) : unbounded,
          .reason = of.reason};
}

ratio_estimate race::ratio(std::size_t candidate, std::size_t to) const {
  const std::size_t blocks =
      std::min(entries_[candidate].race_logs.size(), entries_[to].race_logs.size());
  if (blocks == 0) {
    return unbounded;
  }
  if (candidate == to) {
    return {1, 1, 1};
  }
  std::size_t repeated = 0;
  for (const entry& each : entries_) {
    repeated += std::max<std::size_t>(each.race_logs.size(), 1) - 1;
  }
  const double spread_now = spread();
  const location mine =
      skipped_mean(std::span(entries_[candidate].race_logs).first(blocks), spread_now);
  const location its = skipped_mean(std::span(entries_[to].race_logs).first(blocks), spread_now);
  const double error = spread_now * std::sqrt(1 / static_cast<double>(mine.runs) +
                                              1 / static_cast<double>(its.runs));
  // A spread from medians is worth about half as many runs as one from squares.
  const double half = error * student_975(repeated / 2);
  const double log = mine.at - its.at;
  return {std::exp(log), std::exp(log - half), std::exp(log + half)};
}

std::size_t race::most_runs_left() const {
  if (verdict_ != verdict::none) {
    return 0;
  }
  std::size_t left = queue_.size();
  if (phase_ == phase::confirmation) {
    const auto rest = std::span(trial_sizes_).subspan(trial_.size() + 1);
    left += 2 * std::accumulate(rest.begin(), rest.end(), std::size_t{0});
  } else {
    const std::size_t blocks = most_race_blocks(options_.candidates, options_.most_runs);
    const std::size_t whole = entries_[todays].race_logs.size() + (phase_ == phase::race ? 1 : 0);
    left += (blocks - std::min(whole, blocks)) * survivors().size();
    left += 2 * (options_.most_runs - blocks);
  }
  return std::min(left, runs_left());
}

} // namespace nodewise::tune
