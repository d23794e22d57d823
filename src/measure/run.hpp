// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Visits a point on this machine: measures it for a while.
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

/// What the runner needs besides the point.
struct bench {
  sys::kernel* kernel = nullptr;
  const topology* on = nullptr; ///< for which processors share a core
  /// Whether memory could come from a node that was not asked for.
  bool several_memories = true;
  std::chrono::nanoseconds time{}; ///< of a visit, its memory and threads included
  std::size_t most_samples = 6;    ///< of a visit; visits say more than samples
  /// Asked between repetitions; true ends the visit with what there is.
  std::function<bool()> stopped = [] { return false; };
};

/// What was found in all visits.
struct outcome {
  std::vector<double> samples; ///< in the point's unit, in the order of time
  /// How many samples each visit took; where that is not known, none: each was one of its own.
  std::vector<std::size_t> visits = {};
  std::string unavailable; ///< why there are none
  bool wrong = false;      ///< a kernel computed nonsense: memory or processor is at fault
  /// Of what others did beside a chase, GB/s.
  std::vector<double> beside = {};
  /// Share of the pages that were on the asked node, 0..1; nothing where the kernel does not tell.
  std::optional<double> on_node = {};
  /// Share of the memory that was in transparent huge pages, 0..1.
  std::optional<double> in_huge_pages = {};
  watched_time watched = {}; ///< what `disturbed` is computed from
  std::optional<disturbance> disturbed = {};
  /// Of the first of its processors, while it still was at work.
  std::optional<double> frequency_mhz = {};

  /// Whether other work ran on its processors or elsewhere on the machine meanwhile.
  [[nodiscard]] bool was_disturbed() const noexcept {
    return disturbed && (disturbed->is_much() || disturbed->is_much_elsewhere());
  }
  [[nodiscard]] estimate figure() const { return summarize(samples, visits); }
};

/// Takes memory and threads, and gives them back. One sample at least; no more once three of this
/// visit agree within a hundredth. Each sample has memory of its own, since where a physical page
/// lies in the caches is decided when it is taken; samples of a chase share theirs by six. What a
/// kernel computes is checked once. What the system refuses is `unavailable`, with its answer,
/// unless earlier visits had samples. Throws nothing but what memory of our own can.
void visit_point(const point& what, const bench& with, outcome& into);

} // namespace nodewise::measure
