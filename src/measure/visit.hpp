// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A visit of a point: measures it on this machine for a limited time.
#pragma once

#include <chrono>

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

/// Allocates memory, starts threads and releases both. Takes at least one sample; stops once three
/// of this visit agree within a hundredth. Each sample has its own memory, since allocation decides
/// where a physical page lies in the caches; six samples of a chase share memory. Checks once what
/// a kernel computes. If the system refuses, sets `unavailable` to its answer, unless earlier
/// visits had samples. Throws only if memory of our own runs out.
void visit_point(const point& what, const bench& with, outcome& into);

/// Calls `sample`, which adds to the samples or sets `unavailable`, until the visit has enough.
void take_samples(const bench& with, outcome& into, const std::function<void()>& sample);

/// Bound threads sweep until a sample is long enough; a sample is the GB/s of all threads together,
/// from the start of the first to the end of the last.
void run_work(const point& what, const stream_work& does, const bench& with, outcome& into);
/// Follows a random cycle over the lines of a buffer: each load returns the address of the next.
/// The time of one access, in ns.
void run_work(const point& what, const chase_work& does, const bench& with, outcome& into);
/// Lets two processors write a cache line in turn; the figure is half of a round trip, in ns.
void run_work(const point& what, const transfer_work& does, const bench& with, outcome& into);
/// Threads write a byte to each base page of fresh memory, each to a part of its own. The speed of
/// the kernel in allocating pages, GB/s.
void run_work(const point& what, const touch_work& does, const bench& with, outcome& into);
/// One thread migrates pages from one node to another. The speed of the kernel, GB/s.
void run_work(const point& what, const migration_work& does, const bench& with, outcome& into);

/// The name of the point's region in the lab's counter.
[[nodiscard]] std::string mark_of(const point& what);

} // namespace nodewise::measure
