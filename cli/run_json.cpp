// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "cli/result.hpp"
#include "cli/run_result.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using launch::object_report;
using launch::process_report;
using launch::thread_report;
using nlohmann::ordered_json;

std::string_view name_of(object_report::kind kind) {
  switch (kind) {
  case object_report::kind::map:
    return "map";
  case object_report::kind::static_array:
    return "static";
  case object_report::kind::group:
    return "group";
  case object_report::kind::region:
    return "region";
  case object_report::kind::heap:
    break;
  }
  return "heap";
}

ordered_json strip_json(const object_report& object) {
  using content = object_report::cell::content;
  ordered_json strip = ordered_json::array();
  for (const object_report::cell& cell : object.strip) {
    if (cell.what == content::node) {
      strip.push_back(to_int(cell.node));
    } else {
      strip.push_back(cell.what == content::empty   ? "not resident"
                      : cell.what == content::mixed ? "mixed"
                                                    : "unknown");
    }
  }
  return strip;
}

/// Adds the fields that only some objects have.
void add_particulars(ordered_json& into, const run_result& result, const object_report& object) {
  if (object.refused_errno != 0 || object.map_limited) {
    into["not_placed"] = object.map_limited ? "map limit" : errno_text(object.refused_errno);
  } else if (object.many_threads) {
    into["not_placed"] = "several threads allocate it";
  } else if (object.no_threads && !object.unasked) {
    into["not_placed"] = "no thread was started after it";
  }
  if (object.what == object_report::kind::group) {
    into["blocks"] = object.blocks;
  }
  if (object.rule) {
    into["rule"] = *object.rule;
  }
  if (const auto entry = result.entry_of(object)) {
    into["entry"] = *entry;
  }
  if (object.coarser || object.interleaved) {
    into["map_limit"] = object.coarser ? "coarser granules" : "interleaved";
  }
  if (!object.name.empty()) {
    into["name"] = object.name;
  }
  if (!object.caller_module.empty()) {
    into["caller"] = {{"module", object.caller_module}, {"offset", object.caller_offset}};
    into["site"] = site_of(result, object);
  }
}

ordered_json json_of(const run_result& result, const process_report& process,
                     const object_report& object) {
  ordered_json shares = ordered_json::array();
  for (const object_report::share& share : object.shares) {
    shares.push_back({{"node", to_int(share.node)}, {"pages", share.pages}});
  }
  ordered_json made = {{"sequence", object.sequence},
                       {"kind", name_of(object.what)},
                       {"bytes", object.bytes},
                       {"pages", object.pages},
                       {"resident", object.resident},
                       {"unknown", object.unknown},
                       {"per_node", std::move(shares)},
                       {"local", report::or_unavailable(result.local_share(process, object))},
                       {"as_asked", report::or_unavailable(result.share_as_asked(object))},
                       {"granule_bytes", object.granule_bytes},
                       {"extents", object.extents},
                       {"placed", object.placed},
                       {"huge_pages_off", object.base_pages},
                       {"strip", strip_json(object)},
                       {"live_at_end", object.live_at_end},
                       {"resized", object.resized},
                       {"resolution", object.reduced ? "reduced" : "page"}};
  add_particulars(made, result, object);
  return made;
}

ordered_json json_of(const thread_report& thread) {
  ordered_json made = {{"tid", thread.tid},       {"name", thread.name},
                       {"cpus", thread.cpus},     {"main", thread.main},
                       {"pinned", thread.pinned}, {"own_affinity", thread.own_affinity}};
  if (thread.ordinal) {
    made["ordinal"] = *thread.ordinal;
  }
  if (!thread.start.empty()) {
    made["start_module"] = thread.start;
  }
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
    made["pin_refused"] = errno_text(totals.pin_errno);
  }
  return made;
}

ordered_json json_of(const run_result& result, const process_report& process) {
  ordered_json made = {{"pid", process.pid}, {"program", process.program}};
  made["page_bytes"] =
      process.page_bytes == 0 ? ordered_json("unavailable") : ordered_json(process.page_bytes);
  if (!process.allocator.empty()) {
    made["allocator"] = process.allocator;
  }
  made["totals"] = process.totals ? json_of(*process.totals) : ordered_json("unavailable");
  made["objects"] = ordered_json::array();
  for (const object_report& object : process.objects) {
    made["objects"].push_back(json_of(result, process, object));
  }
  made["threads"] = ordered_json::array();
  for (const thread_report& thread : process.threads) {
    made["threads"].push_back(json_of(thread));
  }
  return made;
}

/// The measured weights: for all large objects, and for rules by their positions.
ordered_json measured_json(const launch::agent_orders& asked) {
  ordered_json made = ordered_json::array();
  const auto add = [&](const launch::agent_placement& where, std::optional<std::size_t> rule) {
    if (!where.weights) {
      return;
    }
    ordered_json one = {{"file", where.weights->file}, {"per_node", ordered_json::array()}};
    for (const plans::memory_weight& each : where.weights->weights) {
      one["per_node"].push_back({{"node", to_int(each.node)}, {"weight", each.weight}});
    }
    if (rule) {
      one["rule"] = *rule;
    }
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
    const launch::agent_placement& standard = *asked.agent->standard;
    const bool blocked = standard.mode == launch::memory_mode::blocked;
    memory["owners"] = ordered_json::array();
    for (const node_id node : blocked ? asked.agent->owners : standard.owners) {
      memory["owners"].push_back(to_int(node));
    }
    if (standard.granule_bytes != 0) {
      memory["granule_bytes"] = standard.granule_bytes;
    }
  } else if (asked.memory && !asked.memory->nodes.empty()) {
    memory["nodes"] = asked.memory->nodes.to_string();
  }
  if (asked.agent) {
    memory["threshold_bytes"] = asked.agent->threshold_bytes;
    if (!asked.agent->rules.empty()) {
      memory["rules"] = ordered_json::array();
      for (const launch::agent_rule& rule : asked.agent->rules) {
        memory["rules"].push_back(rule.text);
      }
    }
    if (ordered_json measured = measured_json(*asked.agent); !measured.empty()) {
      memory["measured_weights"] = std::move(measured);
    }
  }
  return memory;
}

ordered_json asked_json(const run_result& result) {
  const launch::plan& asked = result.asked;
  ordered_json made = {{"memory", memory_json(result)}};
  if (asked.affinity) {
    made["cpus"] = asked.affinity->to_string();
  }
  if (asked.layout) {
    ordered_json threads = ordered_json::array();
    for (const thread_place& thread : asked.layout->threads()) {
      threads.push_back(
          {{"cpus", thread.place.to_string()},
           {"node", thread.node == unknown_node ? ordered_json("unavailable")
                                                : ordered_json(to_int(thread.node))}});
    }
    made["bind"] = to_string(asked.layout->policy());
    made["threads"] = std::move(threads);
  }
  return made;
}

} // namespace

ordered_json run_json(const run_result& result) {
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
  made["processes"] = ordered_json::array();
  for (const process_report& process : result.found.report.processes) {
    made["processes"].push_back(json_of(result, process));
  }
  return made;
}

} // namespace nodewise::cli
