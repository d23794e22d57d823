// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Visits a point on this machine: measures it for a limited time.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/disturbance.hpp"
#include "measure/points.hpp"
#include "measure/statistics.hpp"
#include "sys/kernel.hpp"

namespace nodewise::measure {

/// What the runner needs besides the point.
struct bench {
  sys::kernel* kernel = nullptr;
  const topology* on = nullptr; ///< shows which processors share a core
  /// Whether memory could come from a node other than the requested one.
  bool several_memories = true;
  std::chrono::nanoseconds time{}; ///< of a visit, with setup of memory and threads
  std::size_t most_samples = 6;    ///< of a visit; more visits help more than more samples
  /// Called between repetitions; true ends the visit and keeps its samples.
  std::function<bool()> stopped = [] { return false; };
};

/// The result of all visits.
struct outcome {
  std::vector<double> samples; ///< in the point's unit, in the order of time
  /// The number of samples of each visit; empty if unknown: each sample counts as a visit.
  std::vector<std::size_t> visits = {};
  std::string unavailable; ///< why there are no samples
  bool wrong = false;      ///< a kernel computed wrong values: memory or processor is at fault
  /// Bandwidth of the other threads during a chase, GB/s.
  std::vector<double> beside = {};
  /// Share of the pages that were on the requested node, 0..1; nullopt if the kernel does not say.
  std::optional<double> on_node = {};
  /// Share of the memory that was in transparent huge pages, 0..1.
  std::optional<double> in_huge_pages = {};
  watched_time watched = {}; ///< what `disturbed` is computed from
  std::optional<disturbance> disturbed = {};
  /// The frequency of the first of its processors, while it was still working.
  std::optional<double> frequency_mhz = {};

  /// Whether other work ran on its processors or elsewhere on the machine.
  [[nodiscard]] bool was_disturbed() const noexcept {
    return disturbed && (disturbed->is_much() || disturbed->is_much_elsewhere());
  }
  [[nodiscard]] estimate figure() const { return summarize(samples, visits); }
};

/// Allocates memory, starts threads and releases both. Takes at least one sample; stops once three
/// of this visit agree within a hundredth. Each sample has its own memory, since allocation decides
/// where a physical page lies in the caches; six samples of a chase share memory. Checks once what
/// a kernel computes. If the system refuses, sets `unavailable` to its answer, unless earlier
/// visits had samples. Throws only if memory of our own runs out.
void visit_point(const point& what, const bench& with, outcome& into);

} // namespace nodewise::measure
