// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <nodewise/version.hpp>

#include "topology/machine_json.hpp"
#include "topology/part_sets.hpp"

namespace nodewise {

namespace {

using json = nlohmann::ordered_json;

/// Host names and firmware tables may hold any bytes; JSON holds UTF-8.
json utf8(const std::string& text) {
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
}

/// Sets a field unless its value is an empty text or list.
void set(json& object, const char* key, json value) {
  if (!value.empty() && value != json("")) {
    object[key] = std::move(value);
  }
}

template <class Number>
void set_number(json& object, const char* key, Number number, Number none = 0) {
  if (number != none) {
    object[key] = number;
  }
}

template <class Item>
json list_of(const std::vector<Item>& items, json (*convert)(const Item&)) {
  json all = json::array();
  std::ranges::transform(items, std::back_inserter(all), convert);
  return all;
}

json node_json(const memory_node& node) {
  json entry = {{"id", to_int(node.id)},
                {"cpus", node.cpus.to_string()},
                {"memory_bytes", node.memory_bytes}};
  set(entry, "kind", node.kind == memory_kind::unknown ? "" : name_of(node.kind));
  set_number(entry, "logical", node.logical, -1);
  return entry;
}

/// The number of threads of every core, or 0 if cores differ.
std::size_t threads_per_core(const machine& what) {
  const std::size_t threads = what.cores.empty() ? 0 : what.cores.front().cpus.size();
  const bool all_alike = std::ranges::all_of(
      what.cores, [threads](const core& each) { return each.cpus.size() == threads; });
  return all_alike ? threads : 0;
}

bool are_alike(const cache& a, const cache& b) {
  return std::tie(a.level, a.kind, a.size_bytes, a.line_bytes, a.ways) ==
         std::tie(b.level, b.kind, b.size_bytes, b.line_bytes, b.ways);
}

template <class Parts>
std::vector<cpu_set> sorted_sets(const Parts& parts) {
  std::vector<cpu_set> sets = sets_of(parts);
  std::ranges::sort(sets, {}, &cpu_set::first);
  return sets;
}

/// The word for what shares each of these caches, or "" if no word fits.
std::string shared_by(const machine& what, const std::vector<cache>& alike) {
  const std::vector<cpu_set> sets = sorted_sets(alike);
  return sets == sorted_sets(what.cores)             ? "core"
         : sets == sorted_sets(what.nodes)           ? "node"
         : sets == sorted_sets(what.packages)        ? "package"
         : sets == std::vector<cpu_set>{what.cpus()} ? "machine"
                                                     : "";
}

json cache_json(const cache& each) {
  json entry = {{"level", each.level}, {"kind", name_of(each.kind)}};
  set_number(entry, "size_bytes", each.size_bytes);
  set_number(entry, "line_bytes", each.line_bytes);
  set_number(entry, "ways", each.ways);
  return entry;
}

json caches_json(const machine& what) {
  json all = json::array();
  std::vector<cache> rest = what.caches;
  while (!rest.empty()) {
    const cache first = rest.front();
    std::vector<cache> alike;
    std::vector<cache> others;
    for (cache& each : rest) {
      (are_alike(first, each) ? alike : others).push_back(std::move(each));
    }
    rest = std::move(others);
    json entry = cache_json(first);
    if (const std::string word = shared_by(what, alike); !word.empty()) {
      entry["shared_by"] = word;
      all.push_back(std::move(entry));
      continue;
    }
    for (const cache& each : alike) {
      entry["cpus"] = each.cpus.to_string();
      all.push_back(entry);
    }
  }
  return all;
}

json parameter_json(const parameter& each) {
  return {{"name", utf8(each.name)},
          {"from", to_int(each.from)},
          {"to", to_int(each.to)},
          {"value", each.value},
          {"unit", utf8(each.unit)},
          {"source", each.source.empty() ? json("unknown") : utf8(each.source)}};
}

json device_json(const device& each) {
  json entry = {{"name", utf8(each.name)}, {"kind", utf8(each.kind)}};
  set(entry, "bus", utf8(each.bus));
  entry["nodes"] = each.nodes.to_string();
  return entry;
}

json package_json(const package& each) {
  json entry = json::object();
  set_number(entry, "id", each.id, -1);
  entry["cpus"] = each.cpus.to_string();
  return entry;
}

json core_json(const core& each) {
  return {{"cpus", each.cpus.to_string()}};
}

json lab_json(const lab_settings& lab) {
  json object = json::object();
  set(object, "memory_bytes_per_node", lab.memory_bytes);
  for (const node_id node : lab.offline_nodes) {
    object["offline_nodes"].push_back(to_int(node));
  }
  return object;
}

/// Every node at a glance, for scripts: what it has, and how much of it is allowed.
json nodes_at_a_glance(const topology& what) {
  json all = json::array();
  for (const memory_node& node : what.machine().nodes) {
    const int logical = node.logical >= 0 ? node.logical : static_cast<int>(all.size());
    all.push_back({{"id", to_int(node.id)},
                   {"logical", logical},
                   {"cpus", node.cpus.to_string()},
                   {"allowed", !is_withheld(what, node)},
                   {"allowed_cpus", (node.cpus & what.allowed_cpus()).to_string()},
                   {"memory_bytes", node.memory_bytes},
                   {"kind", name_of(node.kind)},
                   {"has_cpus", !node.cpus.empty()}});
  }
  return all;
}

} // namespace

json machine_json(const machine& what) {
  json all;
  all["schema"] = machine_schema;
  all["name"] = utf8(what.name);
  set(all, "title", utf8(what.title));
  set(all, "source", utf8(what.source));
  set(all, "notes", list_of(what.notes, utf8));
  set_number(all, "threads_per_core", threads_per_core(what));
  all["nodes"] = list_of(what.nodes, node_json);
  set(all, "packages", list_of(what.packages, package_json));
  set(all, "cores", list_of(what.cores, core_json));
  set(all, "distances", what.distances);
  set(all, "caches", caches_json(what));
  set(all, "parameters", list_of(what.parameters, parameter_json));
  set(all, "devices", list_of(what.devices, device_json));
  set(all, "lab", lab_json(what.lab));
  return all;
}

json topology_json(const topology& what) {
  return {
      {"schema", topology_schema},
      {"nodewise", NODEWISE_VERSION},
      {"machine", machine_json(what.machine())},
      {"settings", json::object()},
      {"nodes", nodes_at_a_glance(what)},
      {"allowed",
       {{"cpus", what.allowed_cpus().to_string()}, {"nodes", what.allowed_nodes().to_string()}}}};
}

} // namespace nodewise
