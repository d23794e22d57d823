// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Evaluates the agent's records: where objects were, and where they were requested to be.
#include "cli/verbs/run/result.hpp"

#include <algorithm>

namespace nodewise::cli {

namespace {

using launch::object_report;
using launch::process_report;
using placements::kind;

/// The placement that the agent was given for an object; nullptr if none.
const launch::agent_placement* placement_of(const launch::plan& asked,
                                            const object_report& object) {
  if (!asked.agent || object.unasked) {
    return nullptr;
  }
  const launch::agent_orders& orders = *asked.agent;
  if (object.rule) {
    return *object.rule < orders.rules.size() ? &orders.rules[*object.rule].where : nullptr;
  }
  return orders.standard ? &*orders.standard : nullptr;
}

/// The nodes that the process-wide policy names; nullptr if it names none (local, interleave).
const node_set* process_nodes(const launch::plan& asked) {
  using sys::policy;
  const bool binds =
      asked.memory &&
      (asked.memory->mode == policy::bind || asked.memory->mode == policy::bind_and_balance ||
       asked.memory->mode == policy::preferred || asked.memory->mode == policy::preferred_many);
  return binds ? &asked.memory->nodes : nullptr;
}

/// Whether each page has one or more requested nodes.
bool has_target(const launch::plan& asked, const object_report& object) {
  const launch::agent_placement* const where = placement_of(asked, object);
  if (where == nullptr) {
    return process_nodes(asked) != nullptr;
  }
  const kind how = where->what.how;
  return !object.interleaved && how != kind::interleave && how != kind::local && how != kind::none;
}

/// Whether blocks or parts were assigned to threads by number.
bool needs_team(const launch::plan& asked) {
  const auto is_by_thread = [](const launch::agent_placement& where) {
    return where.what.how == kind::blocked || where.what.how == kind::map;
  };
  return (asked.agent->standard && is_by_thread(*asked.agent->standard)) ||
         std::ranges::any_of(asked.agent->rules, [&](const launch::agent_rule& rule) {
           return is_by_thread(rule.where);
         });
}

} // namespace

std::string_view run_result::placement() const {
  if (asked.agent && asked.agent->standard) {
    return placements::word_of(asked.agent->standard->what.how);
  }
  switch (asked.memory ? asked.memory->mode : sys::policy::system_default) {
  case sys::policy::bind:
  case sys::policy::bind_and_balance:
    return "bind";
  case sys::policy::interleave:
    return "interleave";
  case sys::policy::weighted_interleave:
    return "weighted interleave";
  case sys::policy::preferred:
  case sys::policy::preferred_many:
    return "prefer";
  case sys::policy::local:
    return "local";
  case sys::policy::system_default:
    break;
  }
  return "inherited";
}

bool run_result::has_owners() const {
  return asked.agent && !asked.agent->owners.empty();
}

std::optional<double> run_result::share_as_asked(const object_report& object) const {
  if (!has_target(asked, object)) {
    return std::nullopt;
  }
  if (placement_of(asked, object) != nullptr) {
    return object.locality();
  }
  if (object.resident <= object.unknown) {
    return std::nullopt;
  }
  std::uint64_t there = 0;
  for (const object_report::share& share : object.shares) {
    there += process_nodes(asked)->contains(share.node) ? share.pages : 0;
  }
  return static_cast<double>(there) / static_cast<double>(object.resident - object.unknown);
}

std::optional<double> run_result::local_share(const process_report& process,
                                              const object_report& object) const {
  if (!asked.layout || launch::count_workers(process) != asked.layout->size()) {
    return std::nullopt;
  }
  const launch::agent_placement* const where = placement_of(asked, object);
  const bool counted = where == nullptr || where->what.how == kind::blocked;
  return has_owners() && counted && !object.resized ? object.locality() : std::nullopt;
}

bool run_result::is_as_asked(const object_report& object) const {
  if (object.map_limited || object.refused_errno != 0 || object.interleaved || object.coarser) {
    return false;
  }
  if (!has_target(asked, object) || object.resident == 0) {
    return true;
  }
  return object.unknown == 0 && share_as_asked(object) == 1.0;
}

bool run_result::is_as_asked() const {
  if (!asked.agent || found.report.processes.empty() || found.report.damaged_bytes != 0 ||
      !found.rules_fit) {
    return false;
  }
  const auto& processes = found.report.processes;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const process_report& process = processes[i];
    const bool all_placed =
        !process.totals || (process.totals->refused == 0 && process.totals->map_limited == 0 &&
                            process.totals->pin_errno == 0);
    const auto workers = launch::count_workers(process);
    const bool other_team = asked.layout && needs_team(asked) && workers && *workers > 1 &&
                            *workers != asked.layout->size();
    const bool stripped =
        asked.agent->places_memory() && process.totals && process.totals->stripped != 0;
    if (!all_placed || process.foreign_malloc || other_team || stripped ||
        launch::completeness_of(found.report, i) != launch::completeness::whole ||
        !std::ranges::all_of(process.objects,
                             [&](const object_report& object) { return is_as_asked(object); })) {
      return false;
    }
  }
  return true;
}

} // namespace nodewise::cli
