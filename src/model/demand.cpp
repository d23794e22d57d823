// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/demand.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include <nodewise/error.hpp>

namespace nodewise::model {

namespace {

void add(std::vector<resource_use>& uses, std::size_t from, std::size_t resource, double amount) {
  const auto same = std::find_if(uses.begin() + static_cast<std::ptrdiff_t>(from), uses.end(),
                                 [&](const resource_use& use) { return use.resource == resource; });
  if (same != uses.end()) {
    same->amount += amount;
  } else {
    uses.push_back({resource, amount});
  }
}

} // namespace

std::vector<double> capacities_of(const machine_costs& on) {
  std::vector<double> all;
  std::ranges::transform(on.memory, std::back_inserter(all), &figure::value);
  for (const link& each : on.links) {
    all.push_back(each.bytes_per_s.value);
  }
  return all;
}

std::vector<resource_use> uses_of(const machine_costs& on, std::size_t node,
                                  const thread_traffic& mix, std::size_t core) {
  const double bytes = total_bytes(mix);
  std::vector<resource_use> uses;
  for (std::size_t n = 0; n < on.size(); ++n) {
    const double moved = mix.read[n] + mix.written[n];
    if (moved > 0 && on.memory[n].value != unlimited) {
      uses.push_back({n, moved / bytes * (on.is_near(node, n) ? 1 : on.far_work(n))});
    }
  }
  const std::size_t memories = uses.size();
  const auto cross = [&](const route& way, double part) {
    for (const route_part& over : way) {
      add(uses, memories, on.size() + over.link, part * over.share);
    }
  };
  for (std::size_t n = 0; n < on.size(); ++n) {
    if (mix.read[n] > 0) {
      cross(on.read_ways[node * on.size() + n], mix.read[n] / bytes);
    }
    if (mix.written[n] > 0) {
      cross(on.write_ways[node * on.size() + n], mix.written[n] / bytes);
    }
  }
  if (core != own_limit) {
    uses.push_back({core, core_use(on, node, mix)});
  }
  return uses;
}

double core_use(const machine_costs& on, std::size_t node, const thread_traffic& mix) {
  double sum = 0;
  for (std::size_t n = 0; n < on.size(); ++n) {
    sum += (mix.read[n] + mix.written[n]) * on.latency_ratio(node, n);
  }
  return sum / total_bytes(mix);
}

void check_memories(const machine_costs& on, const traffic& what) {
  for (const thread_traffic& thread : what.threads) {
    for (std::size_t n = 0; n < on.size(); ++n) {
      if (thread.read[n] + thread.written[n] > 0 && on.memory[n].value == 0) {
        throw error(error_kind::input, "predicting the time of the traffic",
                    fmt::format("node {} has no memory", on.nodes[n]),
                    "use the machine on which it was counted");
      }
    }
  }
}

} // namespace nodewise::model
