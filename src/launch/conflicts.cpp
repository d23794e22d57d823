// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Finds settings that contradict each other in the program's environment.
#include "bind/conflicts.hpp"

#include <string>

#include <fmt/core.h>

#include "launch/planning.hpp"

namespace nodewise::launch {

namespace {

/// The option that chooses the processors; empty if they are the caller's.
std::string chooser_of_processors(const run_options& options) {
  if (options.ranks_per) {
    return "--ranks-per";
  }
  const auto& list = options.cpus ? options.cpus : options.cpu_nodes;
  if (list) {
    return list->shown();
  }
  return options.smt == smt_use::off ? "--smt off" : options.widen ? "--all" : "";
}

} // namespace

void warn_of_conflicts(const planning& now) {
  bind::settings variables = bind::read_settings(now.get);
  for (const variable& each : now.into.variables) {
    if (each.value) {
      variables.insert_or_assign(each.name, *each.value);
    } else {
      variables.erase(each.name);
    }
  }
  bind::intentions ours;
  ours.bound = now.into.layout.has_value();
  ours.by_rank = now.options.ranks_per.has_value();
  ours.processors = chooser_of_processors(now.options);
  if (now.into.memory) {
    ours.memory = now.options.memory.typed.shown();
  }
  const cpu_set& allowed = now.into.affinity ? *now.into.affinity : now.here.allowed_cpus();
  for (const bind::conflict& each : bind::find_conflicts(variables, allowed, ours)) {
    now.warn(fmt::format("{}: {} ({})", each.said, each.outcome, each.hint), each.said,
             each.outcome, each.hint);
  }
}

} // namespace nodewise::launch
