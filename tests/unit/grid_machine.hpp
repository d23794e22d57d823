// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <nodewise/machine.hpp>

namespace nodewise::test {

/// Nodes x cores x hardware threads, numbered as Linux does on x86-64: the first hardware threads
/// of all cores, then the second ones.
inline machine grid(int nodes, int cores, int smt = 1, std::vector<int> node_numbers = {}) {
  machine made;
  const int all_cores = nodes * cores;
  for (int n = 0; n < nodes; ++n) {
    memory_node node;
    node.id = node_id{node_numbers.empty() ? n : node_numbers[static_cast<std::size_t>(n)]};
    node.memory_bytes = std::uint64_t{1} << 30;
    for (int c = n * cores; c < (n + 1) * cores; ++c) {
      core one;
      for (int t = 0; t < smt; ++t) {
        one.cpus.insert(cpu_id{c + t * all_cores});
      }
      node.cpus = node.cpus | one.cpus;
      made.cores.push_back(one);
    }
    made.nodes.push_back(node);
  }
  return made;
}

/// The same without hardware threads, and with so many third-level caches in each node.
inline machine grid_with_caches(int nodes, int cores, std::size_t caches) {
  machine made = grid(nodes, cores);
  const std::size_t cores_of_cache = static_cast<std::size_t>(cores) / caches;
  for (std::size_t core = 0; core < made.cores.size(); ++core) {
    if (core % cores_of_cache == 0) {
      made.caches.emplace_back().level = 3;
    }
    made.caches.back().cpus = made.caches.back().cpus | made.cores[core].cpus;
  }
  return made;
}

/// A memory without processors: CXL, HBM.
inline memory_node memory_only(int number) {
  memory_node node;
  node.id = node_id{number};
  node.memory_bytes = std::uint64_t{1} << 30;
  return node;
}

} // namespace nodewise::test
