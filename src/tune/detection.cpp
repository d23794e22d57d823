// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/detection.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "tune/location.hpp"

namespace nodewise::tune {

namespace {

constexpr std::size_t least_for_a_trend = 8;
constexpr std::size_t least_for_modes = 10;
constexpr std::size_t least_for_outliers = 5;
constexpr double least_difference = 0.01;
constexpr double seconds_of_an_hour = 3600;

int sign_of(double value) {
  return value > 0 ? 1 : value < 0 ? -1 : 0;
}

/// The variance of Kendall's sum, times 18, for groups of equal values of these sizes.
double kendall_part(double equal) {
  return equal * (equal - 1) * (2 * equal + 5);
}

double tie_correction(std::span<const double> values) {
  std::map<double, double> groups;
  for (const double each : values) {
    ++groups[each];
  }
  double sum = 0;
  for (const auto& [value, equal] : groups) {
    sum += kendall_part(equal);
  }
  return sum;
}

double distance_of_quartiles(std::span<const double> sorted) {
  return sorted[sorted.size() - 1 - sorted.size() / 4] - sorted[sorted.size() / 4];
}

/// Where the widest gap is that leaves `least` values on either side: the first value above it.
std::size_t widest_gap(std::span<const double> sorted, std::size_t least) {
  std::size_t cut = least;
  for (std::size_t i = least; i + least <= sorted.size(); ++i) {
    if (sorted[i] - sorted[i - 1] > sorted[cut] - sorted[cut - 1]) {
      cut = i;
    }
  }
  return cut;
}

} // namespace

std::vector<double> residuals(std::span<const double> figures,
                              std::span<const std::size_t> candidates) {
  std::map<std::size_t, std::vector<double>> by_candidate;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    by_candidate[candidates[i]].push_back(figures[i]);
  }
  std::map<std::size_t, double> middles;
  for (auto& [candidate, values] : by_candidate) {
    middles[candidate] = median_of(std::move(values));
  }
  std::vector<double> left(figures.begin(), figures.end());
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] -= middles[candidates[i]];
  }
  return left;
}

trend trend_of(std::span<const double> begin_seconds, std::span<const double> residuals) {
  const std::size_t runs = residuals.size();
  if (runs < least_for_a_trend) {
    return {};
  }
  std::vector<double> slopes;
  double sum = 0;
  for (std::size_t i = 1; i < runs; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const double time = begin_seconds[i] - begin_seconds[k];
      const double rise = residuals[i] - residuals[k];
      sum += sign_of(time) * sign_of(rise);
      if (time != 0) {
        slopes.push_back(rise / time);
      }
    }
  }
  const double variance =
      (kendall_part(static_cast<double>(runs)) - tie_correction(residuals)) / 18;
  const double z = variance > 0 ? std::max(std::abs(sum) - 1, 0.0) / std::sqrt(variance) : 0;
  return {std::expm1(median_of(std::move(slopes)) * seconds_of_an_hour),
          std::erfc(z / std::sqrt(2.0))};
}

modes modes_of(std::span<const double> residuals) {
  if (residuals.size() < least_for_modes) {
    return {};
  }
  std::vector<double> sorted(residuals.begin(), residuals.end());
  std::ranges::sort(sorted);
  const std::size_t cut = widest_gap(sorted, (sorted.size() + 4) / 5);
  const double gap = sorted[cut] - sorted[cut - 1];
  const auto fast = std::span(sorted).first(cut);
  const auto slow = std::span(sorted).subspan(cut);
  constexpr double times = 4;
  const bool two = gap > least_difference && gap > times * distance_of_quartiles(fast) &&
                   gap > times * distance_of_quartiles(slow);
  const double apart =
      median_of({slow.begin(), slow.end()}) - median_of({fast.begin(), fast.end()});
  return two ? modes{true, std::expm1(apart),
                     static_cast<double>(slow.size()) / static_cast<double>(sorted.size())}
             : modes{};
}

std::vector<std::size_t> disturbed_runs(std::span<const double> residuals) {
  std::vector<std::size_t> found;
  if (residuals.size() < least_for_outliers) {
    return found;
  }
  constexpr double spreads = 3.5;
  const double middle = median_of({residuals.begin(), residuals.end()});
  const double limit = std::max(spreads * spread_of(residuals), least_difference);
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    if (residuals[i] - middle > limit) {
      found.push_back(i);
    }
  }
  return found;
}

first_runs first_runs_of(std::span<const std::vector<double>> rows) {
  std::vector<double> differences;
  int slower = 0;
  for (const std::vector<double>& row : rows) {
    if (row.size() >= 2) {
      differences.push_back(row.front() - median_of({row.begin() + 1, row.end()}));
      slower += differences.back() > 0 ? 1 : 0;
    }
  }
  // The probability of as many heads or more in tosses of a coin.
  const int all = static_cast<int>(differences.size());
  double p = 0;
  for (int heads = slower; heads <= all; ++heads) {
    p += std::exp(std::lgamma(all + 1.0) - std::lgamma(heads + 1.0) -
                  std::lgamma(all - heads + 1.0) - all * std::log(2.0));
  }
  return {std::exp(median_of(std::move(differences))), std::min(p, 1.0)};
}

} // namespace nodewise::tune
