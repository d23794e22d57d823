// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/ledger.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace nodewise::model {

ledger::ledger(const machine_costs& on, const fair_share& of, std::vector<std::size_t> core_nodes)
    : on_(on), share_(of), core_nodes_(std::move(core_nodes)), moved_(of.capacities().size(), 0),
      bound_(of.capacities().size(), 0) {}

void ledger::pass(const std::vector<flow>& flows, double seconds) {
  seconds_ += seconds;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    if (!flows[f].active) {
      continue;
    }
    const double thread_seconds = seconds * flows[f].members;
    thread_seconds_ += thread_seconds;
    const std::size_t limiter = share_.limiters()[f];
    (limiter == own_limit ? own_bound_ : bound_[limiter]) += thread_seconds;
    for (const resource_use& use : flows[f].uses) {
      moved_[use.resource] += thread_seconds * share_.rates()[f] * use.amount;
    }
  }
}

resource_load ledger::named(std::size_t resource) const {
  const std::size_t memories = on_.size();
  const std::size_t others = memories + on_.links.size();
  const auto [kind, at] = resource < memories ? std::pair(resource_kind::memory, resource)
                          : resource < others
                              ? std::pair(resource_kind::link, resource - memories)
                              : std::pair(resource_kind::core, core_nodes_[resource - others]);
  return {kind, at, share_.capacities()[resource], moved_[resource], bound_[resource]};
}

std::vector<resource_load> ledger::loads() const {
  std::vector<resource_load> all;
  for (std::size_t resource = 0; resource < moved_.size(); ++resource) {
    if (moved_[resource] <= 0) {
      continue;
    }
    const resource_load one = named(resource);
    const auto same = std::ranges::find_if(all, [&](const resource_load& other) {
      return one.kind == resource_kind::core && other.kind == one.kind && other.at == one.at;
    });
    if (same == all.end()) {
      all.push_back(one);
    } else { // the cores of a node are one row
      same->bytes_per_s += one.bytes_per_s;
      same->busy += one.busy;
      same->bound += one.bound;
    }
  }
  for (resource_load& each : all) {
    each.busy /= each.bytes_per_s * seconds_;
    each.bound /= thread_seconds_;
  }
  if (own_bound_ > 0) {
    all.push_back({resource_kind::thread, 0, 0, 0, own_bound_ / thread_seconds_});
  }
  std::ranges::sort(all, {}, [](const resource_load& each) {
    return std::tuple(-each.bound, -each.busy, each.kind, each.at);
  });
  return all;
}

} // namespace nodewise::model
