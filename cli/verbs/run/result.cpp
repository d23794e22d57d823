// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Evaluates the agent's records: where objects were, and where they were requested to be, and
// which entries of a plan file matched how many of them.
#include "cli/verbs/run/result.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"

namespace nodewise::cli {

namespace {

using launch::object_report;
using launch::process_report;
using nlohmann::ordered_json;
using report::tone;

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
  return !object.interleaved && placements::traits_of(where->what.how).has_homes;
}

/// Whether blocks or parts were assigned to threads by number.
bool needs_team(const launch::plan& asked) {
  const auto is_by_thread = [](const launch::agent_placement& where) {
    return placements::traits_of(where.what.how).divided == placements::division::parts;
  };
  return (asked.agent->standard && is_by_thread(*asked.agent->standard)) ||
         std::ranges::any_of(asked.agent->rules, [&](const launch::agent_rule& rule) {
           return is_by_thread(rule.where);
         });
}

/// The totals of one entry's objects.
struct entry_sum {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  std::uint64_t located = 0; ///< pages whose placement is known
  std::uint64_t as_asked = 0;

  [[nodiscard]] std::optional<double> share() const {
    return located == 0
               ? std::nullopt
               : std::optional(static_cast<double>(as_asked) / static_cast<double>(located));
  }
};

struct plan_sum {
  std::vector<entry_sum> entries;
  std::uint64_t unnamed = 0; ///< objects that match no entry
};

/// Adds the pages of an entry's objects that have their own report.
void add_pages(entry_sum& into, const run_result& result, const object_report& object) {
  into.bytes += object.bytes;
  if (const auto share = result.share_as_asked(object)) {
    const std::uint64_t located = object.resident - object.unknown;
    into.located += located;
    into.as_asked +=
        static_cast<std::uint64_t>(std::llround(*share * static_cast<double>(located)));
  }
}

plan_sum sum_of(const run_result& result, const launch::planned_file& plan,
                const std::vector<launch::agent_rule>& rules) {
  plan_sum all;
  all.entries.resize(plan.entries.size());
  for (const launch::process_report& process : result.found.report.processes) {
    std::uint64_t objects =
        process.objects.size() + (process.totals ? process.totals->left_out : 0);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (const auto entry = rules[i].entry) {
        const std::uint64_t its = launch::objects_of_rule(process, i);
        all.entries[*entry].objects += its;
        objects -= std::min(its, objects);
      }
    }
    all.unnamed += objects;
    for (const object_report& object : process.objects) {
      if (const auto entry = result.entry_of(object)) {
        add_pages(all.entries[*entry], result, object);
      }
    }
  }
  return all;
}

std::string headline(const launch::planned_file& plan, const plan_sum& sums) {
  if (!plan.problem.empty()) {
    return fmt::format(": not applied, {}\n", printable(plan.problem));
  }
  const auto matching =
      std::ranges::count_if(sums.entries, [](const entry_sum& sum) { return sum.objects != 0; });
  const std::size_t all = plan.entries.size();
  return fmt::format(": {} of {} {} objects\n", matching, all,
                     all == 1 ? "entry matches" : "entries match");
}

} // namespace

std::string_view run_result::placement() const {
  if (asked.agent && asked.agent->standard) {
    return placements::word_of(asked.agent->standard->what.how);
  }
  return launch::words_of(asked.memory ? asked.memory->mode : sys::policy::system_default).name;
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
  const bool counted = where == nullptr || placements::traits_of(where->what.how).has_blocks();
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

std::optional<std::size_t> run_result::entry_of(const object_report& object) const {
  const bool known = asked.agent && object.rule && *object.rule < asked.agent->rules.size();
  return known ? asked.agent->rules[*object.rule].entry : std::nullopt;
}

std::string plan_text(const run_result& result, const report::style& how) {
  if (!result.asked.planned || !result.asked.agent) {
    return {};
  }
  const launch::planned_file& plan = *result.asked.planned;
  const plan_sum sums = sum_of(result, plan, result.asked.agent->rules);
  report::table rows({"entry", "placement", report::right("objects"), report::right("size"),
                      report::right("as asked"), report::breaking("")},
                     2);
  for (std::size_t i = 0; i < plan.entries.size(); ++i) {
    const launch::planned_file::entry& entry = plan.entries[i];
    const entry_sum& sum = sums.entries[i];
    const auto share = sum.share();
    const std::string missing = !entry.left_out.empty() ? "skipped: " + printable(entry.left_out)
                                : sum.objects == 0      ? "no object matches it"
                                                        : "";
    rows.add({fmt::format("{} {}", i + 1, printable(entry.label)),
              entry.placement,
              std::to_string(sum.objects),
              sum.objects == 0 ? "-" : report::format_bytes(sum.bytes),
              {report::format_percent(share, "-"), share && *share < 1 ? tone::bad : tone::plain},
              {missing, tone::warning}});
  }
  std::string text = report::paint(how, tone::strong, printable(plan.name)) + headline(plan, sums);
  text += plan.entries.empty() ? std::string{} : rows.to_string(how);
  return fmt::format("{}  objects that match no entry: {}\n", text, sums.unnamed);
}

ordered_json plan_json(const run_result& result, const launch::planned_file& plan) {
  ordered_json made = {{"file", plan.name}};
  report::add_if_any(made, "problem", plan.problem);
  if (!result.asked.agent) {
    return made;
  }
  const plan_sum sums = sum_of(result, plan, result.asked.agent->rules);
  made["entries"] = ordered_json::array();
  for (std::size_t i = 0; i < plan.entries.size(); ++i) {
    const entry_sum& sum = sums.entries[i];
    ordered_json entry = {
        {"label", plan.entries[i].label}, {"placement", plan.entries[i].placement},
        {"objects", sum.objects},         {"bytes", sum.bytes},
        {"located_pages", sum.located},   {"as_asked", report::or_unavailable(sum.share())}};
    report::add_if_any(entry, "left_out", plan.entries[i].left_out);
    made["entries"].push_back(std::move(entry));
  }
  made["unnamed_objects"] = sums.unnamed;
  return made;
}

} // namespace nodewise::cli
