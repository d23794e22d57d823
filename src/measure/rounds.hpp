// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// In which order points are visited. A machine drifts for seconds at a time: samples taken in a row
// agree with each other, and not with those of a minute later. So each point is visited several
// times, in rounds through all of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

#include "measure/run.hpp"

namespace nodewise::measure {

/// When points have been measured long enough.
struct limits {
  std::chrono::nanoseconds time{}; ///< for one point, all its visits, memory and threads included
  double relative_error = 0.01;    ///< of the median's interval, to either side
  std::size_t visits = 6;          ///< of a point, before it may be sure
  std::size_t most_samples = 100;  ///< of a point, once there are so many visits

  /// A quarter is kept back: samples that have begun are finished.
  [[nodiscard]] std::chrono::nanoseconds time_of_a_visit() const {
    return time * 3 / (4 * static_cast<std::chrono::nanoseconds::rep>(visits));
  }
};

/// Which point is next. Every point is visited once, however long that takes; then again, but for
/// those that are unavailable or sure, until the time of all is up.
class rounds {
 public:
  rounds(std::size_t points, const limits& until);

  /// `so_far` by points. Nothing if no point is to be visited again.
  [[nodiscard]] std::optional<std::size_t> next(std::chrono::nanoseconds elapsed,
                                                std::span<const outcome> so_far);
  /// How much of the time that all will take is over, 0..1.
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
