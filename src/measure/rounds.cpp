// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/rounds.hpp"

#include <algorithm>

namespace nodewise::measure {

rounds::rounds(std::size_t points, const limits& until)
    : points_(points), until_(until),
      all_(until.time * static_cast<std::chrono::nanoseconds::rep>(points)) {}

std::optional<std::size_t> rounds::next(std::chrono::nanoseconds elapsed,
                                        std::span<const outcome> so_far) {
  for (;;) {
    if (at_ == points_) {
      if (!any_in_round_) {
        return std::nullopt;
      }
      at_ = 0;
      first_round_ = any_in_round_ = false;
    }
    if (!first_round_ && elapsed >= all_) {
      return std::nullopt;
    }
    const std::size_t point = at_++;
    if (first_round_ || is_wanted(so_far[point])) {
      any_in_round_ = true;
      return point;
    }
  }
}

double rounds::share_done(std::chrono::nanoseconds elapsed) const noexcept {
  double all = static_cast<double>(all_.count());
  const double by_now = static_cast<double>(elapsed.count());
  if (first_round_ && at_ > 1) {
    // The first round always finishes: estimate its duration from the pace so far.
    all = std::max(all, by_now * static_cast<double>(points_) / static_cast<double>(at_ - 1));
  }
  return all > 0 ? std::min(by_now / all, 1.0) : 0;
}

bool rounds::is_wanted(const outcome& of) const {
  if (!of.unavailable.empty()) {
    return false;
  }
  const bool is_enough = of.samples.size() >= until_.most_samples ||
                         of.figure().relative_error() <= until_.relative_error;
  return of.visits.size() < until_.visits || !is_enough;
}

} // namespace nodewise::measure
