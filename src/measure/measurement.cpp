// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/measurement.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <nodewise/version.hpp>

#include "topology/measured_machine.hpp"

namespace nodewise::measure {

namespace {

/// Fills in a record's description of a point's work.
struct describing {
  record& into;

  void operator()(const stream_work& does) const {
    double counted = 0;
    double moved = 0;
    for (const stream_group& each : does.groups) {
      if (!into.kernel.empty() && into.kernel != each.does->name) {
        into.kernel = "several";
      } else {
        into.kernel = each.does->name;
      }
      into.threads += each.cpus.size();
      into.bytes += each.bytes;
      // Groups run at their own speed: each is weighted by the bytes of one sweep.
      const double share = static_cast<double>(each.bytes) / each.does->arrays;
      counted += share * static_cast<double>(each.does->counted_bytes());
      moved += share * static_cast<double>(each.does->moved_bytes());
    }
    into.moved_per_counted = counted > 0 ? moved / counted : 0;
  }
  void operator()(const chase_work& does) const {
    into.threads = 1 + (does.beside ? does.beside->cpus.size() : 0);
    into.bytes = does.bytes;
  }
  void operator()(const transfer_work&) const { into.threads = 2; }
  void operator()(const touch_work& does) const {
    into.threads = does.cpus.size();
    into.bytes = does.bytes;
  }
  void operator()(const migration_work& does) const {
    into.threads = 1;
    into.bytes = does.bytes;
  }
};

/// The figure's name among the machine's parameters.
std::optional<std::string_view> parameter_name(const record& of) {
  switch (of.of) {
  case experiment::bandwidth:
    return "bandwidth";
  case experiment::latency:
    return "latency";
  case experiment::contention:
    return "shared_bandwidth";
  case experiment::scaling:
    return of.threads == 1 && of.from == of.to && of.from != unknown_node
               ? std::optional<std::string_view>("core_bandwidth")
               : std::nullopt;
  default:
    return std::nullopt;
  }
}

} // namespace

const record* measurement::find(experiment of, std::string_view label) const noexcept {
  const auto found = std::ranges::find_if(
      records, [&](const record& each) { return each.of == of && each.label == label; });
  return found == records.end() ? nullptr : &*found;
}

std::vector<const record*> measurement::all(experiment of) const {
  std::vector<const record*> found;
  for (const record& each : records) {
    if (each.of == of) {
      found.push_back(&each);
    }
  }
  return found;
}

record record_of(const point& what, outcome found) {
  record made{.of = what.of,
              .label = what.label,
              .unit = std::string(unit_of(what)),
              .from = what.from,
              .to = what.to,
              .kernel = {},
              .found = std::move(found)};
  std::visit(describing{made}, what.work);
  return made;
}

std::vector<parameter> parameters_of(const measurement& all) {
  const std::string source = "measured " + all.date + " by nodewise " NODEWISE_VERSION;
  std::vector<parameter> found;
  for (const record& each : all.records) {
    const auto name = parameter_name(each);
    if (name && each.is_known()) {
      // The bandwidth that all processors together get from a memory belongs to that memory.
      const node_id from = each.of == experiment::contention ? each.to : each.from;
      found.push_back({std::string(*name), from, each.to, each.found.figure().median, each.unit,
                       each.found.was_disturbed() ? source + measured::disturbed_mark : source});
    }
  }
  return found;
}

machine with_parameters(machine of, std::vector<parameter> found) {
  std::erase_if(of.parameters, [&](const parameter& old) {
    return std::ranges::any_of(found, [&](const parameter& now) {
      return now.name == old.name && now.from == old.from && now.to == old.to;
    });
  });
  of.parameters.insert(of.parameters.end(), std::move_iterator(found.begin()),
                       std::move_iterator(found.end()));
  return of;
}

} // namespace nodewise::measure
