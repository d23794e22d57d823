// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/visit.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <nodewise/affinity.hpp>

namespace nodewise::measure {

namespace {

/// Whether samples agree so well that another would add little to the visit.
bool agree(std::span<const double> samples) {
  constexpr std::size_t least = 3;
  constexpr double apart = 0.01;
  if (samples.size() < least) {
    return false;
  }
  const auto [low, high] = std::ranges::minmax(samples);
  return high - low <= apart * high;
}

bool has_enough(const bench& with, std::span<const double> samples,
                std::chrono::nanoseconds taken) {
  // Another sample takes as long as these: skip it unless half of it fits into the time.
  return with.stopped() || samples.size() >= with.most_samples || agree(samples) ||
         taken + taken / (2 * std::max<std::ptrdiff_t>(std::ssize(samples), 1)) >= with.time;
}

} // namespace

void visit_point(const point& what, const bench& with, outcome& into) {
  const std::size_t before = into.samples.size();
  const cpu_set processors = set_of(needs_of(what.work).threads);
  // This thread itself maps and unmaps memory: bind it to the watched processors.
  const affinity_guard as_before;
  (void)try_set_thread_affinity(processors);
  const watch others(*with.kernel, *with.on, processors);
  try {
    std::visit([&](const auto& does) { run_work(what, does, with, into); }, what.work);
  } catch (const error& e) {
    // Keep the samples of earlier visits.
    if (into.samples.empty()) {
      into.unavailable = fmt::format("{}: {}", e.asked(), e.answered());
    }
  }
  if (into.samples.size() > before) {
    into.visits.push_back(into.samples.size() - before);
  }
  into.watched += others.so_far();
  into.disturbed = into.watched.shares();
}

void take_samples(const bench& with, outcome& into, const std::function<void()>& sample) {
  const auto start = std::chrono::steady_clock::now();
  const std::size_t before = into.samples.size();
  do {
    sample();
  } while (into.unavailable.empty() && !has_enough(with, std::span(into.samples).subspan(before),
                                                   std::chrono::steady_clock::now() - start));
}

std::string mark_of(const point& what) {
  return fmt::format("{}: {}", to_string(what.of), what.label);
}

} // namespace nodewise::measure
