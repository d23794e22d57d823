// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Measures one point on this machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/disturbance.hpp"
#include "measure/points.hpp"
#include "measure/statistics.hpp"
#include "sys/kernel.hpp"

namespace nodewise::measure {

/// When a point has been measured long enough.
struct limits {
  std::chrono::nanoseconds time{}; ///< for one point, its memory and threads included
  double relative_error = 0.01;    ///< of the median's interval, to either side
  std::size_t most_samples = 100;
};

/// What the runner needs besides the point.
struct bench {
  sys::kernel* kernel = nullptr;
  /// Whether memory could come from a node that was not asked for.
  bool several_memories = true;
  limits until;
  /// Asked between repetitions; true ends the point with what there is.
  std::function<bool()> stopped = [] { return false; };
};

/// What was found.
struct outcome {
  std::vector<double> samples; ///< in the point's unit, in the order of time
  std::string unavailable;     ///< why there are none
  bool wrong = false;          ///< a kernel computed nonsense: memory or processor is at fault
  /// Of what others did beside a chase, GB/s.
  std::vector<double> beside = {};
  /// Share of the pages that were on the asked node, 0..1; nothing where the kernel does not tell.
  std::optional<double> on_node = {};
  /// Share of the memory that was in transparent huge pages, 0..1.
  std::optional<double> in_huge_pages = {};
  std::optional<disturbance> disturbed = {};
  /// Of its processors, at its end.
  std::optional<double> frequency_mhz = {};

  [[nodiscard]] estimate figure() const { return summarize(samples); }
};

/// Takes memory and threads, and gives them back. Each sample has memory of its own, since where a
/// physical page lies in the caches is decided when it is taken; samples of a chase share theirs by
/// six. What a kernel computes is checked once. What the system refuses is `unavailable`, with its
/// answer: other points are measured all the same. Throws nothing but what memory of our own can.
[[nodiscard]] outcome run_point(const point& what, const bench& with);

} // namespace nodewise::measure
