// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Robust location and spread of a few runs. Figures are natural logarithms, so a difference of 0.01
// is about 1 %. A disturbed run is much slower than the others: a mean would follow it, and a
// median of two runs is their mean.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nodewise::tune {

/// 0 without values.
[[nodiscard]] double median_of(std::vector<double> values);

/// The median distance to the median, scaled to the standard deviation of a normal distribution.
[[nodiscard]] double spread_of(std::span<const double> values);

/// The spread of single runs from the distances between runs of the same candidate, pooled over all
/// candidates: their median, scaled to the standard deviation of a normal distribution. Unlike a
/// distance to a centre it is not too small for groups of two or three (after P. J. Rousseeuw and
/// C. Croux, "Alternatives to the median absolute deviation", JASA 88, 1993). 0 if no candidate has
/// two runs.
[[nodiscard]] double pooled_spread(std::span<const std::vector<double>> runs);

/// The mean of the runs that are within 3.5 spreads of the run at one third of their order (a
/// skipped mean, F. R. Hampel, "The breakdown points of the mean combined with some rejection
/// rules", Technometrics 27, 1985). So of two or three runs that are far apart the fastest counts:
/// disturbances slow runs down.
struct location {
  double at = 0;
  std::size_t runs = 0; ///< that were not skipped
};
[[nodiscard]] location skipped_mean(std::span<const double> runs, double spread);

/// The value that Student's t exceeds with a probability of 2.5 %; infinite for 0 degrees of
/// freedom. From 3 on by the expansion 26.7.5 of M. Abramowitz and I. Stegun, to 1 %.
[[nodiscard]] double student_975(std::size_t degrees);

} // namespace nodewise::tune
