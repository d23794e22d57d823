// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The order in which points are visited. A machine drifts for seconds at a time: samples taken in a
// row agree with each other, but not with those of a minute later. So each point is visited several
// times, in rounds through all points.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

#include "measure/visit.hpp"

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

} // namespace nodewise::measure
