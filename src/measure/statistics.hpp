// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Statistics of repeated measurements. Median and quantiles only: times on a shared machine are not
// normally distributed.
#pragma once

#include <cstddef>
#include <span>

namespace nodewise::measure {

/// The estimate of a figure after some repetitions.
struct estimate {
  std::size_t samples = 0;
  std::size_t visits = 0;
  double median = 0; ///< of the visits' medians: each visit counts once
  double low = 0;    ///< the interval of the median
  double high = 0;
  /// The probability that the interval holds the true median: at least 0.95 from six visits on;
  /// with fewer, the interval is their range and the confidence is lower.
  double confidence = 0;
  double p25 = 0;
  double p75 = 0;
  /// Two groups with a gap between them: the median describes one of them at best.
  bool two_humped = false;

  /// Whether the interval is one of 95 %: six visits.
  [[nodiscard]] bool has_enough_visits() const noexcept;
  /// Half of the interval's width as a share of the median; infinite for a median of 0.
  [[nodiscard]] double relative_error() const noexcept;
};

/// The interval uses order statistics and assumes no distribution (H. A. David and H. N. Nagaraja,
/// Order Statistics, 7.1). Samples must be finite, and in the order of time. Samples of one visit
/// share disturbances and are not independent: the interval is the wider of that of all samples and
/// that of the visits' medians, with the confidence of the latter. `visits`: the number of samples
/// of each visit; unless they add up to all `samples`, each sample counts as a visit. Without
/// samples, all figures are 0.
[[nodiscard]] estimate summarize(std::span<const double> samples,
                                 std::span<const std::size_t> visits = {});

/// Positions (from 0, in sorted order) of the samples that bound the median with 95 % confidence,
/// and that confidence. The first and last sample if there are fewer than six.
struct median_bounds {
  std::size_t first = 0;
  std::size_t last = 0;
  double confidence = 0;
};
[[nodiscard]] median_bounds bounds_of_median(std::size_t samples);

/// Whether sorted samples fall into two groups: each has at least a fifth of all samples, and the
/// gap between them is wider than four times either group's middle half and wider than 5 % of the
/// median. Needs ten samples.
[[nodiscard]] bool is_two_humped(std::span<const double> sorted);

/// How a figure changed between two measurements. `significant` if the intervals do not overlap and
/// both have enough visits: stricter than a test at 5 %, so that few reported changes are false.
/// Without `enough` neither a change nor its absence is known.
struct change {
  double ratio = 0;    ///< new to old median
  bool apart = false;  ///< the intervals do not overlap
  bool enough = false; ///< both figures have the visits that an interval needs

  [[nodiscard]] bool significant() const noexcept { return apart && enough; }
};
[[nodiscard]] change compare(const estimate& before, const estimate& after);

} // namespace nodewise::measure
