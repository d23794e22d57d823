// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What repetitions of a measurement say. The median and quantiles only: times on a machine that is
// shared have no normal distribution.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace nodewise::measure {

/// What is known of a figure after some repetitions.
struct estimate {
  std::size_t samples = 0;
  std::size_t visits = 0;
  double median = 0; ///< of the visits' medians: a visit that took more samples says no more
  double low = 0;    ///< the interval of the median
  double high = 0;
  /// How often such an interval holds the median of all repetitions that could be made: at least
  /// 0.95 from six visits on; below that it is their range, and less is known.
  double confidence = 0;
  double p25 = 0;
  double p75 = 0;
  /// Two groups with a gap between them: the median stands for one of them at best.
  bool two_humped = false;

  /// Whether the interval is one of 95 %: six visits.
  [[nodiscard]] bool has_enough_visits() const noexcept;
  /// Half of the interval's width as a share of the median; infinite for a median of 0.
  [[nodiscard]] double relative_error() const noexcept;
};

/// The interval is that of order statistics: no distribution is assumed (H. A. David and H. N.
/// Nagaraja, Order Statistics, 7.1). Samples must be finite, and in the order of time. Those of one
/// visit share what disturbed them then, and are no independent ones: the interval is the wider of
/// that of all samples and that of the visits' medians, and its confidence that of the latter.
/// `visits`: how many samples each took; unless they are all of `samples`, each sample counts as a
/// visit. No samples give an estimate of 0 samples, all figures 0.
[[nodiscard]] estimate summarize(std::span<const double> samples,
                                 std::span<const std::size_t> visits = {});

/// Positions (from 0, in sorted order) of the samples that bound the median with 95 % confidence,
/// and that confidence. The first and last sample where six are not there.
struct median_bounds {
  std::size_t first = 0;
  std::size_t last = 0;
  double confidence = 0;
};
[[nodiscard]] median_bounds bounds_of_median(std::size_t samples);

/// Whether sorted samples fall into two groups: both at least a fifth of all, and between them a
/// gap that is wider than either group's middle half is, four times, and wider than 5 % of the
/// median. Needs ten samples.
[[nodiscard]] bool is_two_humped(std::span<const double> sorted);

/// How a figure changed between two measurements. `significant` where the intervals do not meet and
/// hold what they promise: stricter than a test at 5 %, so that what is called a change is one.
/// Without `enough` neither a change nor its absence is known.
struct change {
  double ratio = 0;    ///< new to old median
  bool apart = false;  ///< the intervals do not meet
  bool enough = false; ///< both figures have the visits that an interval needs

  [[nodiscard]] bool significant() const noexcept { return apart && enough; }
};
[[nodiscard]] change compare(const estimate& before, const estimate& after);

} // namespace nodewise::measure
