// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/core.h>

#include "launch/not_started.hpp"
#include "launch/planning.hpp"
#include "spec/spec.hpp"

namespace nodewise::launch {

namespace {

const char* process_environment(const char* name) {
  return std::getenv(name);
}

} // namespace

void planning::warn(std::string warning, const std::string& asked, const std::string& answered,
                    const std::string& hint) const {
  if (options.strict) {
    throw not_started(not_started::refused, asked, answered, hint);
  }
  into.warnings.push_back(std::move(warning));
}

void planning::cannot(const std::string& asked, const std::string& answered,
                      const std::string& hint, const std::string& instead) const {
  warn(fmt::format("{}: {}; {} ({})", asked, answered, instead, hint), asked, answered, hint);
}

void planning::set(const char* name, std::string value) const {
  const char* const before = get(name);
  if (before != nullptr && before != value) {
    const std::string was = fmt::format("{}={}", name, before);
    warn(fmt::format("{} replaced by {}", was, value), was,
         fmt::format("the options request {}", value), "unset it");
  }
  into.variables.push_back({name, std::move(value)});
}

bool planned_file::is_incomplete() const noexcept {
  return !problem.empty() ||
         std::ranges::any_of(entries, [](const entry& each) { return !each.left_out.empty(); });
}

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
