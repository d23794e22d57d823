// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A visit of a point: what it is given, what all visits find, and when one ends.
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

/// What a visit needs besides the point.
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

/// Long enough that thread start and clock account for less than a thousandth of it.
inline constexpr std::chrono::duration<double> least_sample = std::chrono::milliseconds(20);

/// Decides whether a visit takes another sample.
class patience {
 public:
  patience(const bench& with, const outcome& before);
  [[nodiscard]] bool has_enough(const outcome& so_far) const;

 private:
  const bench* with_;
  std::chrono::steady_clock::time_point start_;
  std::size_t before_;
};

/// The name of the point's region in the lab's counter.
[[nodiscard]] std::string mark_of(const point& what);

} // namespace nodewise::measure
