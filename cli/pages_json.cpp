// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0

#include "base/hexadecimal.hpp"

#include "cli/pages_view.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"
#include <nlohmann/json.hpp>

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;
using observe::area;
using observe::page_map;

ordered_json node_json(node_id node) {
  if (to_int(node) >= 0) {
    return to_int(node);
  }
  return node == observe::absent_page ? "absent" : node == observe::zero_page ? "zero" : "unknown";
}

ordered_json shares_json(const std::vector<area::share>& shares) {
  ordered_json all = ordered_json::array();
  for (const area::share& s : shares) {
    all.push_back({{"node", to_int(s.node)}, {"pages", s.pages}});
  }
  return all;
}

ordered_json area_json(const area& a, const node_set& nodes, const node_set& active) {
  ordered_json policies = ordered_json::array();
  for (const auto& [pages, policy] : a.policies) {
    policies.push_back({{"pages", pages}, {"policy", policy.empty() ? "unavailable" : policy}});
  }
  ordered_json runs = ordered_json::array();
  std::uint64_t first = 0;
  for (const observe::page_run& r : a.runs) {
    ordered_json run = ordered_json::array({first, r.pages, node_json(r.node)});
    if (r.huge) {
      run.push_back("huge");
    }
    runs.push_back(std::move(run));
    first += r.pages;
  }
  ordered_json one = {{"name", a.name}, {"kind", to_string(a.kind)}};
  if (!a.mapped.empty()) {
    one["mapped"] = a.mapped;
  }
  one["start"] = hexadecimal(a.where.first);
  one["bytes"] = a.where.last - a.where.first;
  one["page_bytes"] = a.page_bytes != 0 ? ordered_json(a.page_bytes) : ordered_json("unavailable");
  one["huge_bytes"] = report::or_unavailable(a.huge_bytes);
  one["policies"] = std::move(policies);
  one["pages"] = a.pages;
  one["resident"] = a.resident;
  one["unknown"] = a.unknown;
  one["zero"] = a.zeros;
  one["per_node"] = shares_json(a.per_node);
  one["local"] = report::or_unavailable(a.share_on(nodes));
  one["local_to_active"] =
      report::or_unavailable(active.empty() ? std::nullopt : a.share_on(active));
  one["runs"] = std::move(runs);
  return one;
}

ordered_json threads_json(const std::vector<observe::thread_facts>& threads) {
  ordered_json all = ordered_json::array();
  for (const observe::thread_facts& t : threads) {
    const auto number = [](int value) {
      return value >= 0 ? ordered_json(value) : ordered_json("unavailable");
    };
    all.push_back({{"tid", t.tid},
                   {"name", t.name},
                   {"state", std::string(1, t.state)},
                   {"cpu", number(to_int(t.last_cpu))},
                   {"node", number(to_int(t.node))},
                   {"cpus_allowed", t.allowed.to_string()},
                   {"active", t.active}});
  }
  return all;
}

ordered_json totals_json(const page_map& map) {
  ordered_json all = ordered_json::object();
  for (const observe::memory_totals& t : map.totals) {
    ordered_json nodes = ordered_json::array();
    for (const auto& [node, bytes] : t.bytes) {
      nodes.push_back({{"node", node}, {"bytes", bytes}});
    }
    all[std::string(t.category)] = std::move(nodes);
  }
  return all;
}

ordered_json process_json(const page_map& map) {
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
  one["notes"] = map.notes;
  one["threads"] = threads_json(map.threads);
  one["totals"] = totals_json(map);
  ordered_json areas = ordered_json::array();
  for (const area& a : map.areas) {
    areas.push_back(area_json(a, nodes, active));
  }
  one["areas"] = std::move(areas);
  return one;
}

} // namespace

ordered_json pages_json(const std::vector<pages_sample>& samples, const machine& on,
                        ordered_json settings) {
  ordered_json result = report::envelope("pages", 1, machine_json(on), std::move(settings));
  ordered_json all = ordered_json::array();
  for (const pages_sample& sample : samples) {
    ordered_json processes = ordered_json::array();
    for (const page_map& map : sample.processes) {
      processes.push_back(process_json(map));
    }
    const std::chrono::duration<double> since = sample.when.time_since_epoch();
    all.push_back({{"time_s", since.count()}, {"processes", std::move(processes)}});
  }
  result["samples"] = std::move(all);
  return result;
}

} // namespace nodewise::cli
