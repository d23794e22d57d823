// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "spec/refusals.hpp"

#include <charconv>
#include <utility>

#include <nodewise/error.hpp>

namespace nodewise::spec {

namespace {

[[noreturn]] void refuse_node(node_id node, const std::string& answered, const node_set& usable) {
  refuse("node " + std::to_string(to_int(node)), answered,
         usable.empty() ? "`nodewise topo` shows what this process may use"
                        : "use one of " + usable.to_string() + "; `nodewise topo` draws them");
}

void check_memory(node_id node, const topology& where, const node_set& usable) {
  const std::string name = "node " + std::to_string(to_int(node));
  if (where.machine().find_node(node)->memory_bytes == 0) { // no cpuset allows such nodes
    refuse_node(node, name + " has no memory", usable);
  }
  if (!where.allowed_nodes().contains(node)) {
    refuse_node(node,
                name + " exists, but this process may only use memory of " +
                    where.allowed_nodes().to_string() + " (cpuset)",
                usable);
  }
}

void check_processors(node_id node, const topology& where, const node_set& usable) {
  const std::string name = "node " + std::to_string(to_int(node));
  const cpu_set& cpus = where.machine().find_node(node)->cpus;
  if (cpus.empty()) {
    refuse_node(node, name + " has no processors, only memory", usable);
  }
  if (!cpus.intersects(where.allowed_cpus())) {
    refuse_node(node,
                name + " exists, but this process may only use processors " +
                    where.allowed_cpus().to_string() + " (cpuset or affinity)",
                usable);
  }
}

} // namespace

void refuse(std::string asked, const std::string& answered, std::string hint) {
  throw error(error_kind::usage, std::move(asked), answered, std::move(hint));
}

node_set usable_nodes(const topology& where, node_purpose purpose) {
  if (purpose == node_purpose::memory) {
    return where.memory_nodes();
  }
  node_set usable;
  for (const domain& each : where.domains()) {
    usable.insert(each.node);
  }
  return usable;
}

void check_node(node_id node, const topology& where, node_purpose purpose, const node_set& usable) {
  if (purpose == node_purpose::memory) {
    check_memory(node, where, usable);
  } else {
    check_processors(node, where, usable);
  }
}

void check_allowed(const std::string& name, const cpu_set& cpus, const topology& where) {
  const cpu_set& usable = where.allowed_cpus();
  if (!cpus.intersects(usable)) {
    refuse(name,
           name + " exists, but this process may only use " + usable.to_string() +
               " (cpuset or affinity)",
           "use one of " + usable.to_string());
  }
}

int number_of(std::string_view text) noexcept {
  int value = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc{} && end == text.data() + text.size();
  return whole && !text.starts_with('-') && value <= max_id ? value : -1;
}

std::string_view take_until(std::string_view& rest, char separator) noexcept {
  const std::size_t at = rest.find(separator);
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return taken;
}

} // namespace nodewise::spec
