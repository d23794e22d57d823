// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include <nlohmann/json.hpp>

#include "topology/machine_json.hpp"

namespace nodewise {

namespace {

using json = nlohmann::ordered_json;

/// Host names and firmware tables may hold any bytes; JSON holds UTF-8.
json utf8(const std::string& text) {
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
}

void set_text(json& object, const char* key, const std::string& text) {
  if (!text.empty()) {
    object[key] = utf8(text);
  }
}

template <class Number>
void set_number(json& object, const char* key, Number number) {
  if (number != 0) {
    object[key] = number;
  }
}

json nodes_json(const machine& what) {
  json all = json::array();
  for (const memory_node& node : what.nodes) {
    json entry;
    entry["id"] = to_int(node.id);
    entry["cpus"] = node.cpus.to_string();
    entry["memory_bytes"] = node.memory_bytes;
    if (node.kind != memory_kind::unknown) {
      entry["kind"] = name_of(node.kind);
    }
    if (node.logical >= 0) {
      entry["logical"] = node.logical;
    }
    all.push_back(std::move(entry));
  }
  return all;
}

/// The number of threads of every core, or 0 if cores differ.
std::size_t threads_per_core(const machine& what) {
  const std::size_t threads = what.cores.empty() ? 0 : what.cores.front().cpus.size();
  const bool all_alike =
      std::all_of(what.cores.begin(), what.cores.end(),
                  [threads](const core& each) { return each.cpus.size() == threads; });
  return all_alike ? threads : 0;
}

bool are_alike(const cache& a, const cache& b) {
  return std::tie(a.level, a.kind, a.size_bytes, a.line_bytes, a.ways) ==
         std::tie(b.level, b.kind, b.size_bytes, b.line_bytes, b.ways);
}

template <class Parts>
std::vector<cpu_set> cpus_of(const Parts& parts) {
  std::vector<cpu_set> sets;
  for (const auto& part : parts) {
    if (!part.cpus.empty()) {
      sets.push_back(part.cpus);
    }
  }
  std::sort(sets.begin(), sets.end(),
            [](const cpu_set& a, const cpu_set& b) { return a.first() < b.first(); });
  return sets;
}

/// The word for what shares each of these caches, or "" if no word fits.
std::string shared_by(const machine& what, const std::vector<cache>& alike) {
  const std::vector<cpu_set> sets = cpus_of(alike);
  if (sets == cpus_of(what.cores)) {
    return "core";
  }
  if (sets == cpus_of(what.nodes)) {
    return "node";
  }
  if (sets == cpus_of(what.packages)) {
    return "package";
  }
  return sets.size() == 1 && sets.front() == what.cpus() ? "machine" : "";
}

json cache_json(const cache& each) {
  json entry;
  entry["level"] = each.level;
  entry["kind"] = name_of(each.kind);
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

json parameters_json(const machine& what) {
  json all = json::array();
  for (const parameter& each : what.parameters) {
    all.push_back({{"name", utf8(each.name)},
                   {"from", to_int(each.from)},
                   {"to", to_int(each.to)},
                   {"value", each.value},
                   {"unit", utf8(each.unit)},
                   {"source", each.source.empty() ? json("unknown") : utf8(each.source)}});
  }
  return all;
}

json devices_json(const machine& what) {
  json all = json::array();
  for (const device& each : what.devices) {
    json entry;
    entry["name"] = utf8(each.name);
    entry["kind"] = utf8(each.kind);
    set_text(entry, "bus", each.bus);
    entry["nodes"] = each.nodes.to_string();
    all.push_back(std::move(entry));
  }
  return all;
}

json lab_json(const lab_settings& lab) {
  json object = json::object();
  if (!lab.memory_bytes.empty()) {
    object["memory_bytes_per_node"] = lab.memory_bytes;
  }
  for (const node_id node : lab.offline_nodes) {
    object["offline_nodes"].push_back(to_int(node));
  }
  return object;
}

void set_list(json& object, const char* key, json list) {
  if (!list.empty()) {
    object[key] = std::move(list);
  }
}

} // namespace

json machine_json(const machine& what) {
  json all;
  all["schema"] = machine_schema;
  all["name"] = utf8(what.name);
  set_text(all, "title", what.title);
  set_text(all, "source", what.source);
  json notes = json::array();
  for (const std::string& note : what.notes) {
    notes.push_back(utf8(note));
  }
  set_list(all, "notes", std::move(notes));
  set_number(all, "threads_per_core", threads_per_core(what));
  all["nodes"] = nodes_json(what);
  for (const package& each : what.packages) {
    json entry;
    if (each.id >= 0) {
      entry["id"] = each.id;
    }
    entry["cpus"] = each.cpus.to_string();
    all["packages"].push_back(std::move(entry));
  }
  for (const core& each : what.cores) {
    all["cores"].push_back({{"cpus", each.cpus.to_string()}});
  }
  set_list(all, "distances", what.distances);
  set_list(all, "caches", caches_json(what));
  set_list(all, "parameters", parameters_json(what));
  set_list(all, "devices", devices_json(what));
  set_list(all, "lab", lab_json(what.lab));
  return all;
}

} // namespace nodewise
