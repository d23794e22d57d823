// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/start/numactl_text.hpp"

#include <array>
#include <string_view>

#include <fmt/core.h>

#include "base/joined.hpp"
#include "sys/node_memory.hpp"
#include "topology/part_sets.hpp"

namespace nodewise::cli {

namespace {

/// "physcpubind: 0 1 2 " with numactl's trailing blank.
template <class Id>
std::string numbers_line(std::string_view name, const id_set<Id>& numbers) {
  const std::string listed = joined(numbers, "", [](Id id) { return fmt::format("{} ", id); });
  return fmt::format("{}: {}\n", name, listed);
}

std::string_view mode_word(sys::policy mode) {
  // By the kernel's numbers.
  constexpr std::array<std::string_view, 7> words = {
      "default",        "preferred",          "bind", "interleave", "local",
      "preferred-many", "weighted-interleave"};
  if (mode == sys::policy::bind_and_balance) {
    return "bind (balancing)"; // numactl 2.0 prints the number
  }
  const auto at = static_cast<std::size_t>(mode);
  return at < words.size() ? words[at] : "unknown";
}

bool interleaves(const sys::task_policy& policy) {
  return policy.mode == sys::policy::interleave || policy.mode == sys::policy::weighted_interleave;
}

std::string preferred_node(const sys::task_policy& policy) {
  if (interleaves(policy)) {
    return fmt::format("{} (interleave next)", policy.next_node);
  }
  if (policy.mode == sys::policy::preferred_many) {
    return fmt::format("{} (preferred-many)", policy.next_node);
  }
  return policy.nodes.empty() ? "current" : fmt::format("{}", policy.nodes.first());
}

/// In MB as numactl counts them; "<not available>" if the kernel does not report it.
std::string free_memory(node_id node, sys::kernel& kernel) {
  const auto now = sys::read_node_memory(kernel, node);
  return now ? fmt::format("{} MB", now->free_bytes >> 20) : "<not available>";
}

std::string distances_text(const machine& what) {
  if (what.nodes.size() > 1 && what.distances.empty()) {
    return "No distance information available.\n";
  }
  std::string text = "node distances:\nnode ";
  for (const memory_node& node : what.nodes) {
    text += fmt::format("{:>3} ", node.id);
  }
  for (const memory_node& from : what.nodes) {
    text += fmt::format("\n{:>3}: ", from.id);
    for (const memory_node& to : what.nodes) {
      // A single node's distance is not read: it is always 10.
      const int standard = from.id == to.id ? 10 : 0;
      text += fmt::format("{:>3} ", what.distance(from.id, to.id).value_or(standard));
    }
  }
  return text + "\n";
}

} // namespace

std::string show_text(const topology& here, const cpu_set& affinity,
                      const sys::task_policy& policy) {
  std::string text = fmt::format("policy: {}\npreferred node: {}\n", mode_word(policy.mode),
                                 preferred_node(policy));
  if (interleaves(policy)) {
    text += numbers_line("interleavemask", policy.nodes);
    text += fmt::format("interleavenode: {}\n", policy.next_node);
  }
  const node_set nodes = nodes_if(
      here.machine(), [&](const memory_node& node) { return node.cpus.intersects(affinity); });
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
  std::string text =
      fmt::format("available: {} nodes ({})\n", all.nodes.size(), all.node_ids().to_string());
  for (const memory_node& node : all.nodes) {
    const std::string cpus =
        joined(node.cpus, "", [](cpu_id cpu) { return fmt::format(" {}", cpu); });
    text += fmt::format("node {0} cpus:{1}\nnode {0} size: {2} MB\nnode {0} free: {3}\n", node.id,
                        cpus, node.memory_bytes >> 20, free_memory(node.id, kernel));
  }
  return text + distances_text(all);
}

} // namespace nodewise::cli
