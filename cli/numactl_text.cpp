// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/numactl_text.hpp"

#include <algorithm>
#include <string_view>

#include "sys/node_memory.hpp"

namespace nodewise::cli {

namespace {

/// "physcpubind: 0 1 2 " with numactl's trailing blank.
template <class Id>
std::string numbers_line(std::string_view name, const id_set<Id>& numbers) {
  std::string text = std::string(name) + ": ";
  for (const Id id : numbers) {
    text += std::to_string(to_int(id)) + " ";
  }
  return text + "\n";
}

std::string_view mode_word(sys::policy mode) {
  switch (mode) {
  case sys::policy::system_default:
    return "default";
  case sys::policy::preferred:
    return "preferred";
  case sys::policy::bind:
    return "bind";
  case sys::policy::bind_and_balance:
    return "bind (balancing)"; // numactl 2.0 prints the number
  case sys::policy::interleave:
    return "interleave";
  case sys::policy::local:
    return "local";
  case sys::policy::preferred_many:
    return "preferred-many";
  case sys::policy::weighted_interleave:
    return "weighted-interleave";
  }
  return "unknown";
}

bool interleaves(const sys::task_policy& policy) {
  return policy.mode == sys::policy::interleave || policy.mode == sys::policy::weighted_interleave;
}

std::string preferred_node(const sys::task_policy& policy) {
  if (interleaves(policy)) {
    return std::to_string(to_int(policy.next_node)) + " (interleave next)";
  }
  if (policy.mode == sys::policy::preferred_many) {
    return std::to_string(to_int(policy.next_node)) + " (preferred-many)";
  }
  return policy.nodes.empty() ? "current" : std::to_string(to_int(policy.nodes.first()));
}

std::string padded(int number, std::size_t width) {
  const std::string text = std::to_string(number);
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

/// In MB as numactl counts them; "<not available>" if the kernel does not report it.
std::string free_memory(node_id node, sys::kernel& kernel) {
  const auto now = sys::read_node_memory(kernel, node);
  return now ? std::to_string(now->free_bytes >> 20) + " MB" : "<not available>";
}

std::string distances_text(const machine& what) {
  if (what.nodes.size() > 1 && what.distances.empty()) {
    return "No distance information available.\n";
  }
  std::string text = "node distances:\nnode ";
  for (const memory_node& node : what.nodes) {
    text += padded(to_int(node.id), 3) + " ";
  }
  for (const memory_node& from : what.nodes) {
    text += "\n" + padded(to_int(from.id), 3) + ": ";
    for (const memory_node& to : what.nodes) {
      // A single node's distance is not read: it is always 10.
      const int standard = from.id == to.id ? 10 : 0;
      text += padded(what.distance(from.id, to.id).value_or(standard), 3) + " ";
    }
  }
  return text + "\n";
}

} // namespace

std::string show_text(const topology& here, const cpu_set& affinity,
                      const sys::task_policy& policy) {
  std::string text = "policy: " + std::string(mode_word(policy.mode)) + "\n";
  text += "preferred node: " + preferred_node(policy) + "\n";
  if (interleaves(policy)) {
    text += numbers_line("interleavemask", policy.nodes);
    text += "interleavenode: " + std::to_string(to_int(policy.next_node)) + "\n";
  }
  node_set nodes;
  for (const memory_node& node : here.machine().nodes) {
    if (node.cpus.intersects(affinity)) {
      nodes.insert(node.id);
    }
  }
  const bool bound =
      policy.mode == sys::policy::bind || policy.mode == sys::policy::bind_and_balance;
  text += numbers_line("physcpubind", affinity);
  text += numbers_line("cpubind", nodes);
  text += numbers_line("nodebind", nodes);
  text += numbers_line("membind", bound ? policy.nodes : here.memory_nodes());
  return text + numbers_line("preferred", policy.nodes);
}

std::string hardware_text(const topology& here, sys::kernel& kernel) {
  const machine& all = here.machine();
  std::string text = "available: " + std::to_string(all.nodes.size()) + " nodes (" +
                     all.node_ids().to_string() + ")\n";
  for (const memory_node& node : all.nodes) {
    const std::string name = "node " + std::to_string(to_int(node.id));
    text += name + " cpus:";
    for (const cpu_id cpu : node.cpus) {
      text += " " + std::to_string(to_int(cpu));
    }
    text += "\n" + name + " size: " + std::to_string(node.memory_bytes >> 20) + " MB\n";
    text += name + " free: " + free_memory(node.id, kernel) + "\n";
  }
  return text + distances_text(all);
}

} // namespace nodewise::cli
