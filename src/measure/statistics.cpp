// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace nodewise::measure {

namespace {

constexpr double wanted_confidence = 0.95;
constexpr std::size_t least_for_an_interval = 6;
constexpr std::size_t least_for_humps = 10;

/// Interpolates between the two nearest samples, as most tools do (R's type 7).
double quantile(std::span<const double> sorted, double at) {
  const double place = at * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

std::vector<double> in_order(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  return sorted;
}

/// In ascending order.
std::vector<double> medians_of_visits(std::span<const double> samples,
                                      std::span<const std::size_t> visits) {
  if (std::accumulate(visits.begin(), visits.end(), std::size_t{0}) != samples.size()) {
    return in_order(samples);
  }
  std::vector<double> medians;
  for (const std::size_t many : visits) {
    if (many != 0) {
      medians.push_back(quantile(in_order(samples.first(many)), 0.5));
    }
    samples = samples.subspan(many);
  }
  std::ranges::sort(medians);
  return medians;
}

double middle_half(std::span<const double> sorted) {
  return quantile(sorted, 0.75) - quantile(sorted, 0.25);
}

} // namespace

bool estimate::has_enough_visits() const noexcept {
  return visits >= least_for_an_interval;
}

double estimate::relative_error() const noexcept {
  return median > 0 ? (high - low) / 2 / median : std::numeric_limits<double>::infinity();
}

median_bounds bounds_of_median(std::size_t samples) {
  if (samples == 0) {
    return {};
  }
  // The number of samples below the median follows n coin tosses. Both ends leave out the same
  // number, so the interval misses the median if fewer heads or tails than that come up.
  const double all = static_cast<double>(samples);
  double log_chance = all * std::log(0.5); // of no heads
  double tail = 0;                         // of fewer heads than are left out
  median_bounds best{0, samples - 1, 1 - 2 * std::exp(log_chance)};
  for (std::size_t left_out = 0; 2 * left_out + 1 < samples; ++left_out) {
    tail += std::exp(log_chance);
    const double confidence = 1 - 2 * tail;
    if (confidence < wanted_confidence && left_out != 0) {
      break;
    }
    best = {left_out, samples - 1 - left_out, confidence};
    const double heads = static_cast<double>(left_out);
    log_chance += std::log((all - heads) / (heads + 1));
  }
  best.confidence = std::max(best.confidence, 0.0);
  return best;
}

bool is_two_humped(std::span<const double> sorted) {
  if (sorted.size() < least_for_humps) {
    return false;
  }
  const std::size_t least = (sorted.size() + 4) / 5;
  std::size_t cut = least;
  for (std::size_t i = least; i + least <= sorted.size(); ++i) {
    if (sorted[i] - sorted[i - 1] > sorted[cut] - sorted[cut - 1]) {
      cut = i;
    }
  }
  const double gap = sorted[cut] - sorted[cut - 1];
  constexpr double times = 4;
  constexpr double least_share = 0.05;
  return gap > times * middle_half(sorted.first(cut)) &&
         gap > times * middle_half(sorted.subspan(cut)) &&
         gap > least_share * std::abs(quantile(sorted, 0.5));
}

estimate summarize(std::span<const double> samples, std::span<const std::size_t> visits) {
  if (samples.empty()) {
    return {};
  }
  const std::vector<double> sorted = in_order(samples);
  const median_bounds of_samples = bounds_of_median(sorted.size());
  const std::vector<double> medians = medians_of_visits(samples, visits);
  const median_bounds of_visits = bounds_of_median(medians.size());
  return {.samples = sorted.size(),
          .visits = medians.size(),
          .median = quantile(medians, 0.5),
          .low = std::min(sorted[of_samples.first], medians[of_visits.first]),
          .high = std::max(sorted[of_samples.last], medians[of_visits.last]),
          .confidence = of_visits.confidence,
          .p25 = quantile(sorted, 0.25),
          .p75 = quantile(sorted, 0.75),
          .two_humped = is_two_humped(sorted)};
}

change compare(const estimate& before, const estimate& after) {
  return {.ratio = before.median > 0 ? after.median / before.median : 0,
          .apart = after.low > before.high || after.high < before.low,
          .enough = before.has_enough_visits() && after.has_enough_visits()};
}

} // namespace nodewise::measure
