// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/session.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <nodewise/advice.hpp>

namespace nodewise::measure {

namespace {

/// The arrays that are to be dealt out by weight, by what is known by now.
void set_weights(point& next, const topology& on, const measurement& so_far) {
  auto* const streams = std::get_if<stream_work>(&next.work);
  if (streams == nullptr || next.of != experiment::interleave) {
    return;
  }
  for (stream_group& group : streams->groups) {
    if (!group.weights.empty()) {
      const topology known(with_parameters(on.machine(), parameters_of(so_far)));
      group.weights = weights_from_bandwidths(known, group.memory);
    }
  }
}

} // namespace

measurement measure_points(const topology& on, std::vector<point> points, const bench& with,
                           const progress_of_points& progress) {
  measurement all;
  all.planned = points.size();
  all.instruction_set = instruction_set();
  for (point& next : points) {
    if (with.stopped()) {
      break;
    }
    progress(all.records.size(), next);
    set_weights(next, on, all);
    outcome found = run_point(next, with);
    if (found.samples.empty() && found.unavailable.empty()) {
      break; // stopped before there was anything
    }
    all.records.push_back(record_of(next, std::move(found)));
  }
  return all;
}

std::chrono::nanoseconds share_of(std::chrono::nanoseconds all, std::size_t points) {
  constexpr std::chrono::nanoseconds least = std::chrono::milliseconds(200);
  return points == 0 ? all : std::max(least, all / static_cast<std::int64_t>(points));
}

} // namespace nodewise::measure
