// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/node_spec.hpp"

#include <string>
#include <utility>

#include <nodewise/error.hpp>

namespace nodewise::launch {

namespace {

/// A list taken apart: [!][+]numbers, or all.
template <class Id>
struct list_spec {
  bool all = false;
  bool inverted = false;
  bool relative = false;
  id_set<Id> numbers;
};

template <class Id>
list_spec<Id> read(std::string_view spec) {
  list_spec<Id> result;
  std::string_view rest = spec;
  if (rest.starts_with('!')) {
    result.inverted = true;
    rest.remove_prefix(1);
  }
  if (rest.starts_with('+')) {
    result.relative = true;
    rest.remove_prefix(1);
  }
  if (rest.empty()) {
    throw error(error_kind::usage, "the list '" + std::string(spec) + "'", "it names nothing",
                "write numbers and ranges such as 0-3,8, or all");
  }
  if (rest == "all") {
    result.all = true;
  } else {
    result.numbers = id_set<Id>::parse(rest);
  }
  return result;
}

/// The numbers as positions in `usable`.
template <class Id>
id_set<Id> count_within(const id_set<Id>& positions, const id_set<Id>& usable, const char* noun) {
  if (positions.highest() >= static_cast<int>(usable.size())) {
    throw error(error_kind::usage, std::string(noun) + " +" + positions.to_string(),
                "this process may use " + usable.to_string() +
                    " only: " + std::to_string(usable.size()) + " in all",
                "count from +0 to +" + std::to_string(static_cast<int>(usable.size()) - 1));
  }
  id_set<Id> found;
  int position = 0;
  for (const Id id : usable) {
    if (positions.contains(Id{position++})) {
      found.insert(id);
    }
  }
  return found;
}

/// `check` throws for a number that cannot be used although it was named.
template <class Id, class Check>
id_set<Id> resolve(std::string_view spec, const id_set<Id>& usable, const id_set<Id>& existing,
                   const char* noun, Check check) {
  const list_spec<Id> list = read<Id>(spec);
  id_set<Id> named = list.numbers;
  if (list.all) {
    named = usable;
  } else if (list.relative) {
    named = count_within(list.numbers, usable, noun);
  }
  for (const Id id : named) {
    if (!existing.contains(id)) {
      const std::string name = std::string(noun) + " " + std::to_string(to_int(id));
      throw error(error_kind::usage, name,
                  "this machine has no " + name + ", only " + existing.to_string(),
                  "use one of " + usable.to_string() + "; `nodewise topo` draws them");
    }
    if (!list.inverted) {
      check(id);
    }
  }
  id_set<Id> result = list.inverted ? usable - named : std::move(named);
  if (result.empty()) {
    throw error(error_kind::usage, "the list '" + std::string(spec) + "'", "nothing is left of it",
                "this process may use " + usable.to_string());
  }
  return result;
}

[[noreturn]] void refuse(node_id node, const std::string& answered, const node_set& usable) {
  throw error(error_kind::usage, "node " + std::to_string(to_int(node)), answered,
              usable.empty() ? "`nodewise topo` shows what this process may use"
                             : "use one of " + usable.to_string() + "; `nodewise topo` draws them");
}

void check_memory(node_id node, const topology& where, const node_set& usable) {
  const std::string name = "node " + std::to_string(to_int(node));
  if (!where.allowed_nodes().contains(node)) {
    refuse(node,
           name + " exists, but this process may only use memory of " +
               where.allowed_nodes().to_string() + " (cpuset)",
           usable);
  }
  if (where.machine().find_node(node)->memory_bytes == 0) {
    refuse(node, name + " has no memory", usable);
  }
}

void check_processors(node_id node, const topology& where, const node_set& usable) {
  const std::string name = "node " + std::to_string(to_int(node));
  const cpu_set& cpus = where.machine().find_node(node)->cpus;
  if (cpus.empty()) {
    refuse(node, name + " has no processors, only memory", usable);
  }
  if (!cpus.intersects(where.allowed_cpus())) {
    refuse(node,
           name + " exists, but this process may only use processors " +
               where.allowed_cpus().to_string() + " (cpuset or affinity)",
           usable);
  }
}

} // namespace

node_set resolve_nodes(std::string_view spec, const topology& where, node_purpose purpose) {
  node_set usable;
  if (purpose == node_purpose::memory) {
    usable = where.memory_nodes();
  } else {
    for (const domain& each : where.domains()) {
      usable.insert(each.node);
    }
  }
  return resolve(spec, usable, where.machine().node_ids(), "node", [&](node_id node) {
    if (purpose == node_purpose::memory) {
      check_memory(node, where, usable);
    } else {
      check_processors(node, where, usable);
    }
  });
}

cpu_set resolve_cpus(std::string_view spec, const topology& where) {
  const cpu_set& usable = where.allowed_cpus();
  return resolve(spec, usable, where.machine().cpus(), "processor", [&](cpu_id cpu) {
    if (!usable.contains(cpu)) {
      const std::string name = "processor " + std::to_string(to_int(cpu));
      throw error(error_kind::usage, name,
                  name + " exists, but this process may only use " + usable.to_string() +
                      " (cpuset or affinity)",
                  "use one of " + usable.to_string());
    }
  });
}

} // namespace nodewise::launch
