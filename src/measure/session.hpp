// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// All points of a run.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include <nodewise/topology.hpp>

#include "measure/measurement.hpp"
#include "measure/rounds.hpp"

namespace nodewise::measure {

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
