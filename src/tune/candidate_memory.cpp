// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/candidate_memory.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "topology/measured_machine.hpp"

namespace nodewise::tune {

namespace {

node_set nodes_with_processors(const topology& on) {
  node_set nodes;
  for (const domain& each : on.domains()) {
    nodes.insert(each.node);
  }
  return nodes;
}

/// Whether threads on several nodes can each have memory on their own.
bool has_several_homes(const topology& on) {
  const node_set nodes = nodes_with_processors(on);
  return nodes.size() > 1 && (nodes & on.memory_nodes()) == nodes;
}

/// Over the memories that have processors: others may be slow.
std::string interleave_option(const topology& on) {
  const node_set memories = on.memory_nodes();
  const node_set over = nodes_with_processors(on) & memories;
  if (over.size() < 2) {
    return "";
  }
  return over == memories ? "interleave" : fmt::format("interleave:{}", over.to_string());
}

/// Memory that is faster than the rest, and may be too small: so it is only preferred.
std::string fast_option(const topology& on) {
  const node_set memories = on.memory_nodes();
  node_set fast;
  for (const memory_node& each : on.machine().nodes) {
    if (each.kind == memory_kind::hbm && memories.contains(each.id)) {
      fast.insert(each.id);
    }
  }
  return fast.empty() || fast == memories ? "" : fmt::format("prefer:{}", fast.to_string());
}

/// The highest from any processors, of the figures that `weighted:auto` accepts; 0 if there is
/// none.
double measured_bandwidth(const machine& of, node_id memory) {
  double best = 0;
  for (const parameter& each : of.parameters) {
    if (each.name == "bandwidth" && each.to == memory && each.source.starts_with("measured") &&
        !measured::was_disturbed(each)) {
      best = std::max(best, each.value);
    }
  }
  return best;
}

/// Whether weights by bandwidth differ from interleave.
bool weights_differ(const topology& on) {
  constexpr double equal = 1.1;
  std::vector<double> bandwidths;
  for (const node_id each : on.memory_nodes()) {
    bandwidths.push_back(measured_bandwidth(on.machine(), each));
  }
  if (bandwidths.empty()) {
    return false;
  }
  const auto [low, high] = std::ranges::minmax(bandwidths);
  return low > 0 && high > low * equal;
}

} // namespace

std::string memory_option(memory_way way, const topology& on) {
  switch (way) {
  case memory_way::local:
    break;
  case memory_way::interleave:
    return interleave_option(on);
  case memory_way::blocked:
    return has_several_homes(on) ? "blocked" : "";
  case memory_way::cyclic:
    return has_several_homes(on) ? "cyclic:64K" : "";
  case memory_way::weighted:
    return weights_differ(on) ? "weighted:auto" : "";
  case memory_way::fast:
    return fast_option(on);
  }
  return "";
}

} // namespace nodewise::tune
