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

/// Called before each visit, with how much of the time is over, 0..1, and whom it goes to.
using progress_of_points = std::function<void(double share, const point& next)>;

/// Visits the points in rounds; `with.time` and `with.on` are set. Nothing that was measured is
/// lost: not by a refusal, which is in its outcome, and not by `with.stopped`, which ends the run.
/// Memory "by weight" is dealt out by the bandwidths that the same run has measured before. `set`,
/// `host` and `date` are left to the caller.
[[nodiscard]] measurement measure_points(const topology& on, std::vector<point> points, bench with,
                                         const limits& until, const progress_of_points& progress);

/// Time for each point, so that all of them take about so long together; 0.2 s at least.
[[nodiscard]] std::chrono::nanoseconds share_of(std::chrono::nanoseconds all, std::size_t points);

} // namespace nodewise::measure
