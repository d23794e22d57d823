// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/session.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include <nodewise/advice.hpp>

#include "measure/run.hpp"

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
