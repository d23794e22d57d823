// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "cli/frame/result.hpp"
#include "cli/verbs/run/flags.hpp"
#include "cli/verbs/run/result.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using launch::object_report;
using launch::process_report;
using launch::thread_report;
using nlohmann::ordered_json;
using report::add_if_any;
using report::json_list;
using report::or_unavailable;

/// In the order of `object_report::kind`.
constexpr std::array kind_names = {"heap", "map", "static", "group", "region", "file"};

ordered_json cell_json(const object_report::cell& cell) {
  using content = object_report::cell::content;
  if (cell.what == content::node) {
    return cell.node;
  }
  return cell.what == content::empty   ? "not resident"
         : cell.what == content::mixed ? "mixed"
                                       : "unknown";
}

/// Adds the fields that only some objects have.
void add_particulars(ordered_json& into, const run_result& result, const object_report& object) {
  add_if_any(into, "not_placed", why_not_placed(object));
  if (object.what == object_report::kind::group) {
    into["blocks"] = object.blocks;
  }
  add_if_any(into, "rule", object.rule);
  add_if_any(into, "entry", result.entry_of(object));
  if (object.partly_gone) {
    into["partly_unmapped"] = true;
  }
  if (object.coarser || object.interleaved) {
    into["map_limit"] = object.coarser ? "coarser granules" : "interleaved";
  }
  add_if_any(into, "name", object.name);
  if (!object.caller_module.empty()) {
    into["caller"] = {{"module", object.caller_module}, {"offset", object.caller_offset}};
    into["site"] = site_of(result, object);
  }
}

ordered_json json_of(const run_result& result, const process_report& process,
                     const object_report& object) {
  const auto share_json = [](const object_report::share& share) -> ordered_json {
    return {{"node", share.node}, {"pages", share.pages}};
  };
  ordered_json made = {{"sequence", object.sequence},
                       {"kind", kind_names.at(static_cast<std::size_t>(object.what))},
                       {"bytes", object.bytes},
                       {"pages", object.pages},
                       {"resident", object.resident},
                       {"unknown", object.unknown},
                       {"per_node", json_list(object.shares, share_json)},
                       {"local", or_unavailable(result.local_share(process, object))},
                       {"as_asked", or_unavailable(result.share_as_asked(object))},
                       {"granule_bytes", object.granule_bytes},
                       {"extents", object.extents},
                       {"placed", object.placed},
                       {"huge_pages_off", object.base_pages},
                       {"strip", json_list(object.strip, cell_json)},
                       {"live_at_end", object.live_at_end},
                       {"resized", object.resized},
                       {"resolution", object.reduced ? "reduced" : "page"}};
  add_particulars(made, result, object);
  return made;
}

ordered_json reported_thread_json(const thread_report& thread) {
  ordered_json made = {{"tid", thread.tid},       {"name", thread.name},
                       {"cpus", thread.cpus},     {"main", thread.main},
                       {"pinned", thread.pinned}, {"own_affinity", thread.own_affinity}};
  add_if_any(made, "ordinal", thread.ordinal);
  add_if_any(made, "start_module", thread.start);
  return made;
}

ordered_json json_of(const launch::process_totals& totals) {
  ordered_json made = {
      {"objects", totals.objects},           {"placed", totals.placed},
      {"refused", totals.refused},           {"map_limited", totals.map_limited},
      {"left_out", totals.left_out},         {"lost", totals.lost},
      {"not_made", totals.no_memory},        {"groups", totals.groups},
      {"stripped_modules", totals.stripped}, {"own_threads", totals.own_threads},
      {"pinned_threads", totals.pinned},     {"own_affinity", totals.own_affinity}};
  if (totals.pin_errno != 0) {
    made["pin_refused"] = errno_text(static_cast<int>(totals.pin_errno));
  }
  return made;
}

ordered_json json_of(const run_result& result, const process_report& process) {
  ordered_json made = {{"pid", process.pid}, {"program", process.program}};
  made["page_bytes"] =
      process.page_bytes == 0 ? ordered_json("unavailable") : ordered_json(process.page_bytes);
  add_if_any(made, "allocator", process.allocator);
  made["totals"] = process.totals ? json_of(*process.totals) : ordered_json("unavailable");
  made["objects"] = json_list(process.objects, [&](const object_report& object) {
    return json_of(result, process, object);
  });
  made["threads"] = json_list(process.threads, reported_thread_json);
  return made;
}

/// The measured weights: for all large objects, and for rules by their positions.
ordered_json measured_json(const launch::agent_orders& asked) {
  ordered_json made = ordered_json::array();
  const auto add = [&](const launch::agent_placement& where, std::optional<std::size_t> rule) {
    if (where.measured_in.empty()) {
      return;
    }
    const auto weight_json = [](const placements::owner_run& run) -> ordered_json {
      return {{"node", run.owner}, {"weight", run.parts}};
    };
    ordered_json one = {{"file", where.measured_in},
                        {"per_node", json_list(where.what.owners, weight_json)}};
    add_if_any(one, "rule", rule);
    made.push_back(std::move(one));
  };
  if (asked.standard) {
    add(*asked.standard, std::nullopt);
  }
  for (std::size_t i = 0; i < asked.rules.size(); ++i) {
    add(asked.rules[i].where, i);
  }
  return made;
}

ordered_json memory_json(const run_result& result) {
  const launch::plan& asked = result.asked;
  ordered_json memory = {{"placement", result.placement()}};
  if (asked.agent && asked.agent->standard) {
    const placements::placement& standard = asked.agent->standard->what;
    memory["owners"] = json_list(placements::traits_of(standard.how).has_blocks()
                                     ? asked.agent->owners
                                     : placements::owners_of(standard.owners));
    if (standard.granule_bytes != 0) {
      memory["granule_bytes"] = standard.granule_bytes;
    }
  } else if (asked.memory && !asked.memory->nodes.empty()) {
    memory["nodes"] = asked.memory->nodes.to_string();
  }
  if (asked.huge_pages) {
    memory["huge_pages"] = *asked.huge_pages ? "on" : "off";
  }
  if (asked.agent) {
    memory["threshold_bytes"] = asked.agent->threshold_bytes;
    if (!asked.agent->rules.empty()) {
      memory["rules"] = json_list(asked.agent->rules, &launch::agent_rule::text);
    }
    add_if_any(memory, "measured_weights", measured_json(*asked.agent));
  }
  return memory;
}

ordered_json asked_json(const run_result& result) {
  const launch::plan& asked = result.asked;
  ordered_json made = {{"memory", memory_json(result)}};
  if (asked.numa_balancing) {
    made["numa_balancing"] = *asked.numa_balancing ? "on" : "off";
  }
  if (asked.affinity) {
    made["cpus"] = asked.affinity->to_string();
  }
  if (asked.layout) {
    made["bind"] = to_string(asked.layout->policy());
    made["threads"] =
        json_list(asked.layout->threads(), [](const thread_place& thread) -> ordered_json {
          const bool known = thread.node != unknown_node;
          return {{"cpus", thread.place.to_string()},
                  {"node", known ? ordered_json(thread.node) : ordered_json("unavailable")}};
        });
  }
  return made;
}

} // namespace

std::string run_json(const run_result& result) {
  ordered_json made = report::envelope("run", 1, machine_json(topology::from_sysfs().machine()),
                                       settings_json(sys::real_kernel()));
  made["command"] = result.asked.command;
  made["asked"] = asked_json(result);
  made["exit_code"] = result.found.exit_code();
  if (WIFSIGNALED(result.found.wait_status)) {
    made["signal"] = WTERMSIG(result.found.wait_status);
  }
  made["as_asked"] = result.is_as_asked();
  std::vector<std::string> warnings = result.asked.warnings;
  warnings.insert(warnings.end(), result.found.warnings.begin(), result.found.warnings.end());
  made["warnings"] = std::move(warnings);
  if (result.asked.planned) {
    made["plan"] = plan_json(result, *result.asked.planned);
  }
  made["processes"] = json_list(result.found.report.processes, [&](const process_report& process) {
    return json_of(result, process);
  });
  return report::json_text(made);
}

} // namespace nodewise::cli
