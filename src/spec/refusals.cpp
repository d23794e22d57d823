// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "spec/refusals.hpp"

#include <utility>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/parse_number.hpp"
#include "topology/part_sets.hpp"

namespace nodewise::spec {

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
