// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/verbs/pages/flags.hpp"
#include "cli/verbs/pages/view.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;
using observe::area;
using report::json_list;

ordered_json owner_json(node_id node) {
  if (to_int(node) >= 0) {
    return node;
  }
  return node == observe::absent_page ? "absent" : node == observe::zero_page ? "zero" : "unknown";
}

/// [first page, pages, node] for each run, and "huge" if it is in huge pages.
ordered_json runs_json(const area& a) {
  ordered_json runs = ordered_json::array();
  std::uint64_t first = 0;
  for (const observe::page_run& r : a.runs) {
    ordered_json run = ordered_json::array({first, r.pages, owner_json(r.node)});
    if (r.huge) {
      run.push_back("huge");
    }
    runs.push_back(std::move(run));
    first += r.pages;
  }
  return runs;
}

ordered_json area_json(const area& a, const node_set& nodes, const node_set& active) {
  ordered_json one = {{"name", a.name}, {"kind", to_string(a.kind)}};
  report::add_if_any(one, "mapped", a.mapped);
  one["start"] = hexadecimal(a.where.first);
  one["bytes"] = a.where.last - a.where.first;
  one["page_bytes"] = a.page_bytes != 0 ? ordered_json(a.page_bytes) : ordered_json("unavailable");
  one["huge_bytes"] = report::or_unavailable(a.huge_bytes);
  one["policies"] = json_list(a.policies, [](const auto& each) -> ordered_json {
    const auto& [pages, policy] = each;
    return {{"pages", pages}, {"policy", policy.empty() ? "unavailable" : policy}};
  });
  one["pages"] = a.pages;
  one["resident"] = a.resident;
  one["unknown"] = a.unknown;
  one["zero"] = a.zeros;
  one["per_node"] = json_list(a.per_node, [](const area::share& s) -> ordered_json {
    return {{"node", s.node}, {"pages", s.pages}};
  });
  one["local"] = report::or_unavailable(a.share_on(nodes));
  one["local_to_active"] =
      report::or_unavailable(active.empty() ? std::nullopt : a.share_on(active));
  one["runs"] = runs_json(a);
  return one;
}

ordered_json thread_json(const observe::thread_facts& t) {
  const auto number = [](auto id) {
    return to_int(id) >= 0 ? ordered_json(id) : ordered_json("unavailable");
  };
  return {{"tid", t.tid},
          {"name", t.name},
          {"state", std::string(1, t.state)},
          {"cpu", number(t.last_cpu)},
          {"node", number(t.node)},
          {"cpus_allowed", t.allowed.to_string()},
          {"active", t.active}};
}

ordered_json totals_json(const observe::page_map& map) {
  ordered_json all = ordered_json::object();
  for (const observe::memory_totals& t : map.totals) {
    all[std::string(t.category)] = json_list(t.bytes, [](const auto& each) -> ordered_json {
      return {{"node", each.first}, {"bytes", each.second}};
    });
  }
  return all;
}

ordered_json process_json(const observe::page_map& map) {
  const node_set nodes = nodes_of(map.threads, false);
  const node_set active = nodes_of(map.threads, true);
  ordered_json one = {
      {"pid", map.pid},
      {"command", map.command},
      {"method", to_string(map.how)},
      {"resolution", map.how == observe::method::numa_maps ? "reduced" : "page"},
  };
  if (map.refused_errno != 0) {
    one["move_pages_errno"] = map.refused_errno;
  }
  one["counted_mappings"] = map.counted;
  one["page_bytes"] = map.page_bytes;
  one["query_seconds"] = map.query_seconds;
  report::add_if_any(one, "moved_pages", map.moved);
  one["notes"] = map.notes;
  one["threads"] = json_list(map.threads, thread_json);
  one["totals"] = totals_json(map);
  one["areas"] = json_list(map.areas, [&](const area& a) { return area_json(a, nodes, active); });
  return one;
}

} // namespace

std::string pages_json(const pages_result& what) {
  ordered_json result =
      report::envelope("pages", 1, machine_json(what.on), settings_json(sys::real_kernel()));
  result["samples"] = json_list(what.samples, [](const pages_sample& sample) -> ordered_json {
    const std::chrono::duration<double> since = sample.when.time_since_epoch();
    return {{"time_s", since.count()}, {"processes", json_list(sample.processes, process_json)}};
  });
  return report::json_text(result);
}

} // namespace nodewise::cli
