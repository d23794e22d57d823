// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "tune/location.hpp"

namespace nodewise::tune {

namespace {

constexpr std::size_t todays_row = 0; // the number of today's setting

// Chosen by simulation (bench/races.cpp): stricter ones lose the best candidate more often, laxer
// ones run more.
constexpr double errors_behind_first = 1.8;
constexpr double errors_behind_later = 1.0;
constexpr std::size_t share_of_runs = 3; // the confirmation needs the other two thirds
constexpr double far_behind = 3.5;
constexpr double no_disturbance = 0.6931; // log 2: a disturbance seldom doubles a run
constexpr std::size_t enough_for_a_spread = 5;
constexpr double least_spread = 1e-5; // clocks are no finer

std::vector<double> firsts(std::span<const race_row> rows) {
  std::vector<double> all;
  for (const race_row& each : rows) {
    all.push_back(each.logs.front());
  }
  return all;
}

std::vector<std::size_t> after_first(std::span<const race_row> rows, double most_spread) {
  const std::vector<double> all = firsts(rows);
  const double best = std::ranges::min(all);
  const double middle = median_of(all);
  const double among = all.size() < enough_for_a_spread ? std::numeric_limits<double>::infinity()
                                                        : std::max(spread_of(all), least_spread);
  const double spread = std::min(among, most_spread);
  std::vector<std::size_t> stay;
  for (const ranked_row& each : ranked(rows, 0)) {
    const bool near = each.at <= best + errors_behind_first * std::sqrt(2.0) * spread;
    const bool maybe_disturbed = each.at > middle + far_behind * among;
    if (each.candidate == todays_row ||
        ((near || maybe_disturbed) && each.at <= best + no_disturbance)) {
      stay.push_back(each.candidate);
    }
  }
  return stay;
}

/// A third of all at half of the race, a sixth at three quarters; at least two.
std::size_t most_that_stay(std::size_t blocks, std::size_t of_blocks, std::size_t candidates) {
  if (2 * blocks < of_blocks) {
    return candidates;
  }
  const std::size_t divisor = 4 * blocks < 3 * of_blocks ? 3 : 6;
  return std::max<std::size_t>(2, (candidates + divisor - 1) / divisor);
}

} // namespace

std::vector<ranked_row> ranked(std::span<const race_row> rows, double spread) {
  std::vector<std::pair<ranked_row, double>> all;
  for (const race_row& each : rows) {
    const location found = skipped_mean(each.logs, spread);
    all.push_back({{each.candidate, found.at, found.runs}, each.predicted});
  }
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return std::tuple(a.first.at, a.second, a.first.candidate) <
           std::tuple(b.first.at, b.second, b.first.candidate);
  });
  std::vector<ranked_row> found;
  found.reserve(all.size());
  for (const auto& [row, predicted] : all) {
    found.push_back(row);
  }
  return found;
}

double error_between(const ranked_row& a, const ranked_row& b, double spread) {
  return spread * std::sqrt(1 / static_cast<double>(a.runs) + 1 / static_cast<double>(b.runs));
}

std::vector<std::size_t> staying(std::span<const race_row> rows, std::size_t candidates,
                                 std::size_t of_blocks, double spread, double most_spread) {
  const std::size_t blocks = rows.front().logs.size();
  if (blocks == 1) {
    return after_first(rows, most_spread);
  }
  const std::vector<ranked_row> order = ranked(rows, spread);
  const ranked_row& best = order.front();
  const std::size_t most = most_that_stay(blocks, of_blocks, candidates);
  std::vector<std::size_t> stay;
  std::size_t others = 0;
  for (const ranked_row& each : order) {
    const double error = error_between(each, best, spread);
    if (each.candidate == todays_row) {
      stay.push_back(each.candidate);
    } else if (others < most && each.at - best.at <= errors_behind_later * error) {
      stay.push_back(each.candidate);
      ++others;
    }
  }
  return stay;
}

std::size_t most_race_blocks(std::size_t candidates, std::size_t most_runs) {
  if (candidates <= 2) {
    return 0;
  }
  return most_runs / share_of_runs;
}

} // namespace nodewise::tune
