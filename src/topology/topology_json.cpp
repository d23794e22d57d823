// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <nodewise/version.hpp>

#include "topology/machine_json.hpp"
#include "topology/withheld.hpp"

namespace nodewise {

namespace {

using json = nlohmann::ordered_json;

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

template <class Id>
id_set<Id> allowed_of(const json_field& allowed, const char* key, const id_set<Id>& all) {
  const auto field = allowed.find(key);
  if (!field) {
    return all;
  }
  auto ids = field->template ids<Id>();
  if (!all.includes(ids)) {
    field->refuse(fmt::format("{} is not in the machine", (ids - all).to_string()),
                  fmt::format("allow only {}", all.to_string()));
  }
  return ids;
}

} // namespace

json topology_json(const topology& what) {
  return topology_json(what, json::object());
}

json topology_json(const topology& what, json settings) {
  return {
      {"schema", topology_schema},
      {"nodewise", NODEWISE_VERSION},
      {"machine", machine_json(what.machine())},
      {"settings", std::move(settings)},
      {"nodes", nodes_at_a_glance(what)},
      {"allowed",
       {{"cpus", what.allowed_cpus().to_string()}, {"nodes", what.allowed_nodes().to_string()}}}};
}

topology topology_from_json(const json_field& document) {
  const std::string schema = document.at("schema").text();
  const auto nested = document.find("machine");
  if (!nested || schema.starts_with("nodewise/machine/")) {
    return topology(machine_from_json(document));
  }
  if (schema.starts_with("nodewise/topology/")) {
    check_schema(document, topology_schema);
    document.allow_only({"schema", "nodewise", "machine", "settings", "nodes", "allowed"});
  }
  machine all = machine_from_json(*nested);
  const auto allowed = document.find("allowed");
  if (!allowed) {
    return topology(std::move(all));
  }
  allowed->allow_only({"cpus", "nodes"});
  cpu_set cpus = allowed_of(*allowed, "cpus", all.cpus());
  node_set nodes = allowed_of(*allowed, "nodes", all.node_ids());
  return {std::move(all), std::move(cpus), std::move(nodes)};
}

inline namespace v0 {

topology topology::from_json(const std::filesystem::path& file) {
  const json document = read_json_file(file, largest_machine_file);
  topology read =
      topology_from_json(json_field(document, fmt::format("the machine file {}", file.string())));
  if (read.machine_.name.empty()) {
    read.machine_.name = file.stem().string();
  }
  return read;
}

} // namespace v0

} // namespace nodewise
