// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// All points of a run, one after the other.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include <nodewise/topology.hpp>

#include "measure/measurement.hpp"

namespace nodewise::measure {

/// Called before each point, with how many are done.
using progress_of_points = std::function<void(std::size_t done, const point& next)>;

/// Nothing that was measured is lost: not by a refusal, which is in its outcome, and not by
/// `with.stopped`, which ends the run. Memory "by weight" is dealt out by the bandwidths that the
/// same run has measured before. `set`, `host` and `date` are left to the caller.
[[nodiscard]] measurement measure_points(const topology& on, std::vector<point> points,
                                         const bench& with, const progress_of_points& progress);

/// Time for each point, so that all of them take about so long together; 0.2 s at least.
[[nodiscard]] std::chrono::nanoseconds share_of(std::chrono::nanoseconds all, std::size_t points);

} // namespace nodewise::measure
