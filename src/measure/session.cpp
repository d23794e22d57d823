// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/session.hpp"

#include <algorithm>

#include <nodewise/advice.hpp>

namespace nodewise::measure {

namespace {

using clock = std::chrono::steady_clock;

/// The records of visited points, in the order of the points.
std::vector<record> records_of(std::span<const point> points, std::span<const outcome> found) {
  std::vector<record> all;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!found[i].samples.empty() || !found[i].unavailable.empty()) {
      all.push_back(record_of(points[i], found[i]));
    }
  }
  return all;
}

/// Sets the weights of interleaved arrays from the bandwidths measured so far.
void set_weights(point& next, const topology& on, std::span<const point> points,
                 std::span<const outcome> found) {
  auto* const streams = std::get_if<stream_work>(&next.work);
  if (streams == nullptr || next.of != experiment::interleave) {
    return;
  }
  for (stream_group& group : streams->groups) {
    if (!group.weights.empty()) {
      measurement so_far;
      so_far.records = records_of(points, found);
      const topology known(with_parameters(on.machine(), parameters_of(so_far)));
      group.weights = weights_from_bandwidths(known, group.memory);
    }
  }
}

} // namespace

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

measurement measure_points(const topology& on, std::vector<point> points, bench with,
                           const limits& until, const progress_of_points& progress) {
  measurement all;
  all.planned = points.size();
  all.instruction_set = instruction_set();
  with.on = &on;
  with.time = until.time_of_a_visit();
  std::vector<outcome> found(points.size());
  rounds order(points.size(), until);
  const auto start = clock::now();
  while (const auto next = order.next(clock::now() - start, found)) {
    if (with.stopped()) {
      all.stopped = true;
      break;
    }
    point& what = points[*next];
    progress(order.share_done(clock::now() - start), what);
    if (found[*next].visits.empty()) { // all samples of a point use the same weights
      set_weights(what, on, points, found);
    }
    visit_point(what, with, found[*next]);
  }
  all.stopped = all.stopped || with.stopped();
  all.records = records_of(points, found);
  return all;
}

std::chrono::nanoseconds share_of(std::chrono::nanoseconds all, std::size_t points) {
  constexpr std::chrono::nanoseconds least = std::chrono::milliseconds(200);
  return points == 0 ? all : std::max(least, all / static_cast<std::int64_t>(points));
}

} // namespace nodewise::measure
