// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/run.hpp"

#include <algorithm>
#include <span>

#include <fmt/core.h>

#include <nodewise/affinity.hpp>
#include <nodewise/error.hpp>

#include "measure/chases.hpp"
#include "measure/page_work.hpp"
#include "measure/streams.hpp"

namespace nodewise::measure {

namespace {

/// Every processor that a point's threads run on.
struct processors_of {
  cpu_set operator()(const stream_work& does) const {
    cpu_set all;
    for (const stream_group& each : does.groups) {
      all = all | set_of(each.cpus);
    }
    return all;
  }
  cpu_set operator()(const chase_work& does) const {
    cpu_set all = does.beside ? set_of(does.beside->cpus) : cpu_set{};
    all.insert(does.cpu);
    return all;
  }
  cpu_set operator()(const transfer_work& does) const { return {does.first, does.second}; }
  cpu_set operator()(const touch_work& does) const { return set_of(does.cpus); }
  cpu_set operator()(const migration_work& does) const { return {does.cpu}; }
};

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

} // namespace

patience::patience(const bench& with, const outcome& before)
    : with_(&with), start_(std::chrono::steady_clock::now()), before_(before.samples.size()) {}

bool patience::has_enough(const outcome& so_far) const {
  const auto own = std::span(so_far.samples).subspan(before_);
  if (with_->stopped() || own.size() >= with_->most_samples || agree(own)) {
    return true;
  }
  // Another sample takes as long as these: skip it unless half of it fits into the time.
  const auto taken = std::chrono::steady_clock::now() - start_;
  return taken + taken / (2 * std::max<std::ptrdiff_t>(std::ssize(own), 1)) >= with_->time;
}

std::string mark_of(const point& what) {
  return fmt::format("{}: {}", to_string(what.of), what.label);
}

void visit_point(const point& what, const bench& with, outcome& into) {
  const std::size_t before = into.samples.size();
  const cpu_set processors = std::visit(processors_of{}, what.work);
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

} // namespace nodewise::measure
