// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// All points of a run, and the order in which they are visited. A machine drifts for seconds at a
// time: samples taken in a row agree with each other, but not with those of a minute later. So each
// point is visited several times, in rounds through all points.
#pragma once

#include "measure/measurement.hpp"

namespace nodewise::measure {

/// Limits that end the measurement of points.
struct limits {
  std::chrono::nanoseconds time{}; ///< for all visits of a point, setup included
  double relative_error = 0.01;    ///< half-width of the median's interval, relative
  std::size_t visits = 6;          ///< of a point, before it can be precise enough
  std::size_t most_samples = 100;  ///< of a point, once it has had `visits` visits

  /// Keeps a quarter in reserve, since samples that have begun are finished.
  [[nodiscard]] std::chrono::nanoseconds time_of_a_visit() const {
    return time * 3 / (4 * static_cast<std::chrono::nanoseconds::rep>(visits));
  }
};

/// Chooses the next point. Visits every point once, however long that takes; then visits those
/// again that are neither unavailable nor precise enough, until the total time is used up.
class rounds {
 public:
  rounds(std::size_t points, const limits& until);

  /// `so_far` has one outcome a point. nullopt if no point needs another visit.
  [[nodiscard]] std::optional<std::size_t> next(std::chrono::nanoseconds elapsed,
                                                std::span<const outcome> so_far);
  /// The elapsed share of the expected total time, 0..1.
  [[nodiscard]] double share_done(std::chrono::nanoseconds elapsed) const noexcept;

 private:
  [[nodiscard]] bool is_wanted(const outcome& of) const;

  std::size_t points_;
  limits until_;
  std::chrono::nanoseconds all_;
  std::size_t at_ = 0;
  bool first_round_ = true;
  bool any_in_round_ = false;
};

/// Called before each visit with the elapsed share of the time, 0..1, and the next point.
using progress_of_points = std::function<void(double share, const point& next)>;

/// Visits the points in rounds; sets `with.time` and `with.on`. Keeps everything that was measured:
/// a refusal is part of its point's outcome, and `with.stopped` only ends the run. Interleaves
/// memory "by weight" by the bandwidths that the same run has measured before. The caller sets
/// `set`, `host` and `date`.
[[nodiscard]] measurement measure_points(const topology& on, std::vector<point> points, bench with,
                                         const limits& until, const progress_of_points& progress);

/// Time for each point, so that all of them take about `all` together; at least 0.2 s.
[[nodiscard]] std::chrono::nanoseconds share_of(std::chrono::nanoseconds all, std::size_t points);

} // namespace nodewise::measure
