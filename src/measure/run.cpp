// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/run.hpp"

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

} // namespace

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
