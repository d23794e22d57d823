// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/traffic.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include <fmt/core.h>

#include <nodewise/error.hpp>

namespace nodewise::model {

thread_traffic idle_thread(std::size_t core, std::size_t nodes) {
  return {.core = core, .read = std::vector<double>(nodes), .written = std::vector<double>(nodes)};
}

double sum_of(const std::vector<double>& values) noexcept {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double total_bytes(const thread_traffic& of) noexcept {
  return std::accumulate(of.written.begin(), of.written.end(), sum_of(of.read));
}

double total_bytes(const traffic& of) noexcept {
  double sum = 0;
  for (const thread_traffic& thread : of.threads) {
    sum += total_bytes(thread);
  }
  return sum;
}

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
  const auto memories = static_cast<std::ptrdiff_t>(uses.size());
  const auto cross = [&](const route& way, double moved) {
    if (moved <= 0) {
      return;
    }
    for (const route_part& over : way) {
      const double amount = moved / bytes * over.share;
      const auto same = std::find_if(uses.begin() + memories, uses.end(), [&](const auto& use) {
        return use.resource == on.size() + over.link;
      });
      if (same != uses.end()) {
        same->amount += amount;
      } else {
        uses.push_back({on.size() + over.link, amount});
      }
    }
  };
  for (std::size_t n = 0; n < on.size(); ++n) {
    cross(on.read_ways[node * on.size() + n], mix.read[n]);
    cross(on.write_ways[node * on.size() + n], mix.written[n]);
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
