// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/run.hpp"

#include <algorithm>

#include <nodewise/error.hpp>

#include "measure/chases.hpp"
#include "measure/page_work.hpp"
#include "measure/streams.hpp"

namespace nodewise::measure {

namespace {

cpu_set set_of(const std::vector<cpu_id>& cpus) {
  cpu_set all;
  for (const cpu_id cpu : cpus) {
    all.insert(cpu);
  }
  return all;
}

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

struct runner {
  const point& what;
  const bench& with;
  outcome& into;

  void operator()(const stream_work& does) const { run_streams(what, does, with, into); }
  void operator()(const chase_work& does) const { run_chase(what, does, with, into); }
  void operator()(const transfer_work& does) const { run_transfer(what, does, with, into); }
  void operator()(const touch_work& does) const { run_touch(what, does, with, into); }
  void operator()(const migration_work& does) const { run_migration(what, does, with, into); }
};

} // namespace

patience::patience(const bench& with)
    : with_(&with), end_(std::chrono::steady_clock::now() + with.until.time) {}

bool patience::has_enough(const outcome& so_far) const {
  return with_->stopped() || so_far.samples.size() >= with_->until.most_samples ||
         std::chrono::steady_clock::now() >= end_ ||
         is_settled(so_far.figure(), with_->until.relative_error);
}

std::string mark_of(const point& what) {
  return std::string(to_string(what.of)) + ": " + what.label;
}

outcome run_point(const point& what, const bench& with) {
  outcome found;
  const cpu_set processors = std::visit(processors_of{}, what.work);
  const watch others(*with.kernel, processors);
  try {
    std::visit(runner{what, with, found}, what.work);
  } catch (const error& e) {
    // Samples that were taken before stay.
    if (found.samples.empty()) {
      found.unavailable = e.asked() + ": " + e.answered();
    }
  }
  found.frequency_mhz = frequency_mhz(*with.kernel, processors);
  found.disturbed = others.so_far();
  return found;
}

} // namespace nodewise::measure
