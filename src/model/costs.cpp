// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/costs.hpp"

#include <algorithm>

namespace nodewise::model {

std::optional<std::size_t> machine_costs::position_of(node_id node) const noexcept {
  const auto found = std::ranges::lower_bound(nodes, node);
  if (found == nodes.end() || *found != node) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - nodes.begin());
}

std::optional<std::size_t> machine_costs::core_of(cpu_id cpu) const noexcept {
  for (std::size_t c = 0; c < cores.size(); ++c) {
    if (std::ranges::find(cores[c].cpus, cpu) != cores[c].cpus.end()) {
      return c;
    }
  }
  return std::nullopt;
}

double machine_costs::far_work(std::size_t memory_at) const noexcept {
  // `shared_efficiency` applies if all cores draw alike: near share * 1 + far share * work = 1 /
  // efficiency.
  const double share = near_share[memory_at];
  if (share >= 1) {
    return 1;
  }
  return std::max(1.0, (1 / shared_efficiency[memory_at].value - share) / (1 - share));
}

std::vector<std::size_t> nearest_memory(const machine_costs& on, const node_set& usable) {
  std::vector<std::size_t> all;
  for (std::size_t from = 0; from < on.size(); ++from) {
    std::optional<std::size_t> best;
    const auto consider = [&](std::size_t to) {
      if (on.memory[to].value > 0 && usable.contains(on.nodes[to]) &&
          (!best || on.latency_ratio(from, to) < on.latency_ratio(from, *best))) {
        best = to;
      }
    };
    consider(from); // the own memory wins among equally near ones
    for (std::size_t to = 0; to < on.size(); ++to) {
      consider(to);
    }
    all.push_back(best.value_or(from));
  }
  return all;
}

} // namespace nodewise::model
