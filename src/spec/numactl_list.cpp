// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "spec/numactl_list.hpp"

#include <fmt/core.h>

#include "base/numbers.hpp"
#include "topology/part_sets.hpp"

namespace nodewise::spec {

namespace {

/// Removes a mark from the front of the text; false if it has none.
bool take_mark(std::string_view& text, char mark) {
  const bool found = text.starts_with(mark);
  text.remove_prefix(found ? 1 : 0);
  return found;
}

/// The members of `usable` at these positions.
template <class Id>
id_set<Id> count_within(const id_set<Id>& positions, const id_set<Id>& usable, const char* noun) {
  if (positions.highest() >= static_cast<int>(usable.size())) {
    refuse(
        fmt::format("{} +{}", noun, positions.to_string()),
        fmt::format("this process may use only {}: {} in all", usable.to_string(), usable.size()),
        fmt::format("count from +0 to +{}", static_cast<int>(usable.size()) - 1));
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

/// Resolves [!][+]numbers, or all. `check` throws for a named number that cannot be used.
template <class Id, class Check>
id_set<Id> resolve(std::string_view text, const id_set<Id>& usable, const id_set<Id>& existing,
                   const char* noun, Check check) {
  std::string_view list = text;
  const bool inverted = take_mark(list, '!');
  const bool relative = take_mark(list, '+');
  if (list.empty()) {
    refuse_list(text, "it names nothing", "write numbers and ranges such as 0-3,8, or all");
  }
  const bool all = list == "all";
  if (!all && list.find_first_not_of("0123456789,-") != std::string_view::npos) {
    refuse_list(text, "not a list of processors or nodes in the syntax of numactl, hwloc or LIKWID",
                "write 0-3,8 or +0 or !0 or all; package:0.core:0-3; S0:0-3; near:netdev=eth0");
  }
  const id_set<Id> numbers = all ? usable : id_set<Id>::parse(list);
  const id_set<Id> named = relative && !all ? count_within(numbers, usable, noun) : numbers;
  for (const Id id : named) {
    if (!existing.contains(id)) {
      const std::string name = fmt::format("{} {}", noun, id);
      refuse(name, fmt::format("this machine has no {}, only {}", name, existing.to_string()),
             fmt::format("use one of {}; `nodewise topo` draws them", usable.to_string()));
    }
    if (!inverted) {
      check(id);
    }
  }
  id_set<Id> result = inverted ? usable - named : named;
  if (result.empty()) {
    refuse_list(text, "it selects nothing", "this process may use " + usable.to_string());
  }
  return result;
}

} // namespace

node_set numactl_nodes(std::string_view text, const topology& where, node_purpose purpose) {
  const node_set usable = usable_nodes(where, purpose);
  return resolve(text, usable, where.machine().node_ids(), "node",
                 [&](node_id node) { check_node(node, where, purpose, usable); });
}

cpu_set numactl_cpus(std::string_view text, const topology& where) {
  return resolve(text, where.allowed_cpus(), where.machine().cpus(), "processor", [&](cpu_id cpu) {
    check_allowed(fmt::format("processor {}", cpu), {cpu}, where);
  });
}

void refuse(std::string asked, const std::string& answered, std::string hint) {
  throw error(error_kind::usage, std::move(asked), answered, std::move(hint));
}

void refuse_list(std::string_view text, const std::string& answered, std::string hint) {
  refuse(fmt::format("the list '{}'", text), answered, std::move(hint));
}

node_set usable_nodes(const topology& where, node_purpose purpose) {
  return purpose == node_purpose::memory ? where.memory_nodes()
                                         : nodes_if(where.machine(), [&](const memory_node& node) {
                                             return node.cpus.intersects(where.allowed_cpus());
                                           });
}

cpu_set cpus_of(const node_set& nodes, const topology& where) {
  cpu_set cpus;
  for (const node_id node : nodes) {
    cpus = std::move(cpus) | where.machine().find_node(node)->cpus;
  }
  return cpus;
}

void check_node(node_id node, const topology& where, node_purpose purpose, const node_set& usable) {
  const memory_node& named = *where.machine().find_node(node);
  const cpu_set& cpus = where.allowed_cpus();
  const bool of_memory = purpose == node_purpose::memory;
  // A node without memory is in no cpuset.
  const bool empty = of_memory ? named.memory_bytes == 0 : named.cpus.empty();
  if (!empty && (of_memory ? where.allowed_nodes().contains(node) : named.cpus.intersects(cpus))) {
    return;
  }
  const std::string name = fmt::format("node {}", node);
  const std::string why =
      empty       ? of_memory ? "has no memory" : "has no processors, only memory"
      : of_memory ? fmt::format("exists, but this process may only use memory of {} (cpuset)",
                                where.allowed_nodes().to_string())
                  : fmt::format("exists, but this process may only use processors {} (cpuset or "
                                "affinity)",
                                cpus.to_string());
  refuse(name, fmt::format("{} {}", name, why),
         usable.empty()
             ? "`nodewise topo` shows what this process may use"
             : fmt::format("use one of {}; `nodewise topo` draws them", usable.to_string()));
}

void check_allowed(const std::string& name, const cpu_set& cpus, const topology& where) {
  if (!cpus.intersects(where.allowed_cpus())) {
    const std::string usable = where.allowed_cpus().to_string();
    refuse(name,
           fmt::format("{} exists, but this process may only use {} (cpuset or affinity)", name,
                       usable),
           "use one of " + usable);
  }
}

int number_of(std::string_view text) noexcept {
  const int value = text.starts_with('-') ? -1 : parse_number<int>(text).value_or(-1);
  return value <= max_id ? value : -1;
}

} // namespace nodewise::spec
