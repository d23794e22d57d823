// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a set of runs, so that a table of results can show it: drift, two modes,
// disturbed runs, first runs unlike later ones. None of it changes a verdict, which holds on any
// noise; but it explains why a difference was not separated. Figures are natural logarithms.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nodewise::tune {

/// The figures less the median of their candidate, in the same order. `candidates`: of each figure.
[[nodiscard]] std::vector<double> residuals(std::span<const double> figures,
                                            std::span<const std::size_t> candidates);

/// A trend over time: the median of the slopes between all pairs of runs (H. Theil, 1950; P. K.
/// Sen, JASA 63, 1968), and the two-sided p of the test of H. B. Mann (Econometrica 13, 1945) and
/// M. G. Kendall that there is none, in the normal approximation with correction for ties.
struct trend {
  double per_hour = 0; ///< a ratio less 1: 0.02 is 2 % slower an hour
  double p = 1;        ///< 1 below 8 runs
};
[[nodiscard]] trend trend_of(std::span<const double> begin_seconds,
                             std::span<const double> residuals);

/// Two groups with a gap: each has a fifth of all, and the gap is wider than four times the middle
/// half of either group and than 1 %.
struct modes {
  bool two = false;      ///< false below 10 values
  double apart = 0;      ///< ratio of the groups' medians less 1
  double slow_share = 0; ///< of the values, 0..1
};
[[nodiscard]] modes modes_of(std::span<const double> residuals);

/// The positions of runs that are slower than the median by more than 3.5 spreads (B. Iglewicz and
/// D. C. Hoaglin, How to Detect and Handle Outliers, 1993) and by more than 1 %. None below 5 runs.
[[nodiscard]] std::vector<std::size_t> disturbed_runs(std::span<const double> residuals);

/// Whether first runs are slower than later ones. Without such an effect, a candidate's first run
/// is slower than the median of its later ones with a probability of at most 1/2. Rows of one run
/// do not count. Candidates are set aside for slow runs, so an effect may be overlooked but not
/// invented.
struct first_runs {
  double ratio = 1; ///< the median of first run to later ones
  double p = 1;     ///< one-sided, of the sign test over candidates
};
[[nodiscard]] first_runs first_runs_of(std::span<const std::vector<double>> rows);

} // namespace nodewise::tune
