// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/location.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace nodewise::tune {

namespace {

constexpr double normal_quartile = 0.67448975; // half of a normal distribution is nearer
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double skipped_beyond = 3.5;

} // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  const auto half = static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, values.begin() + half);
  const double upper = values[static_cast<std::size_t>(half)];
  return values.size() % 2 == 1
             ? upper
             : std::midpoint(*std::max_element(values.begin(), values.begin() + half), upper);
}

double spread_of(std::span<const double> values) {
  const double middle = median_of({values.begin(), values.end()});
  std::vector<double> distances(values.begin(), values.end());
  for (double& each : distances) {
    each = std::abs(each - middle);
  }
  return median_of(std::move(distances)) / normal_quartile;
}

double pooled_spread(std::span<const std::vector<double>> runs) {
  std::vector<double> distances;
  for (const std::vector<double>& of : runs) {
    for (std::size_t i = 1; i < of.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        distances.push_back(std::abs(of[i] - of[k]));
      }
    }
  }
  return median_of(std::move(distances)) / (std::sqrt(2.0) * normal_quartile);
}

location skipped_mean(std::span<const double> runs, double spread) {
  if (runs.empty()) {
    return {};
  }
  std::vector<double> sorted(runs.begin(), runs.end());
  std::ranges::sort(sorted);
  const double middle = sorted[(sorted.size() - 1) / 3];
  double sum = 0;
  std::size_t kept = 0;
  for (const double each : sorted) {
    if (std::abs(each - middle) <= skipped_beyond * spread || each == middle) {
      sum += each;
      ++kept;
    }
  }
  return {sum / static_cast<double>(kept), kept};
}

double student_975(std::size_t degrees) {
  if (degrees <= 2) {
    return degrees == 2 ? 4.302653 : degrees == 1 ? 12.706205 : infinite;
  }
  constexpr double z = 1.959964;
  constexpr double z3 = z * z * z;
  constexpr double z5 = z3 * z * z;
  constexpr double z7 = z5 * z * z;
  const double n = static_cast<double>(degrees);
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

} // namespace nodewise::tune
