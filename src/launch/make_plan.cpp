// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include "launch/planning.hpp"
#include "spec/spec.hpp"

namespace nodewise::launch {

namespace {

const char* process_environment(const char* name) {
  return std::getenv(name);
}

} // namespace

sysfs_detail detail_for(const run_options& options) noexcept {
  if (options.places == place_kind::packages || options.ranks_per == place_kind::packages) {
    return sysfs_detail::all;
  }
  const bool by_core = options.bind != bind_policy::none || options.ranks_per || options.pin ||
                       options.smt == smt_use::off;
  auto detail = by_core ? sysfs_detail::cores : memory_detail_for(options);
  for (const auto& list : {&options.cpus, &options.cpu_nodes, &options.pin}) {
    detail = *list ? std::max(detail, spec::detail_for((*list)->text)) : detail;
  }
  return detail;
}

plan make_plan(const run_options& options, const topology& here, environment get) {
  plan made;
  made.command = options.command;
  made.warnings = options.notes;
  const planning now{options, here, get == nullptr ? process_environment : get, made};
  plan_processors(now);
  plan_memory(now);
  warn_of_conflicts(now);
  return made;
}

} // namespace nodewise::launch
