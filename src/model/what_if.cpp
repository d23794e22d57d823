// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The same traffic placed differently, and the same placement on a slightly different machine.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>

#include "model/demand.hpp"
#include "model/predict.hpp"
#include "model/replay.hpp"

namespace nodewise::model {

namespace {

/// Spreads every thread's bytes over the memories by the shares for its node.
traffic spread(const machine_costs& on, const traffic& what,
               const std::vector<std::vector<double>>& by_node) {
  const std::size_t nodes = on.size();
  traffic all;
  for (const thread_traffic& thread : what.threads) {
    const double read = std::accumulate(thread.read.begin(), thread.read.end(), 0.0);
    const double written = std::accumulate(thread.written.begin(), thread.written.end(), 0.0);
    const std::size_t node = on.cores[thread.core].node;
    const std::vector<double>& shares = by_node[node];
    thread_traffic moved = idle_thread(thread.core, nodes);
    moved.most = thread.most;
    for (std::size_t n = 0; n < nodes; ++n) {
      moved.read[n] = read * shares[n];
      moved.written[n] = written * shares[n];
    }
    if (total_bytes(thread) > 0) { // a limit by lines in flight follows the latency
      moved.most *= core_use(on, node, thread) / core_use(on, node, moved);
    }
    all.threads.push_back(std::move(moved));
  }
  return all;
}

std::vector<double> by_weight(std::vector<double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) {
    weight /= sum;
  }
  return weights;
}

void sort_by_time(std::vector<alternative>& all) {
  std::ranges::sort(all, {}, [](const alternative& each) {
    return std::pair(each.seconds, each.name); // a fixed order for equal times
  });
}

/// Pages in turn, each node as often as `weight` of its bandwidth, in quarters of the least.
template <class Weight>
page_map in_turn_by(const machine_costs& on, const Weight& weight) {
  std::vector<double> times(on.size(), 0);
  double least = unlimited;
  for (std::size_t n = 0; n < on.size(); ++n) {
    if (on.memory[n].value > 0) {
      times[n] = weight(on.memory[n].value == unlimited ? 1 : on.memory[n].value);
      least = std::min(least, times[n]);
    }
  }
  constexpr double parts = 4;
  constexpr double most = 255;
  bool equal = true;
  for (double& each : times) {
    equal = equal && (each == 0 || each == least);
    each = std::min(most, std::round(each / least * parts));
  }
  std::vector<std::size_t> nodes;
  const int rounds = equal ? 1 : static_cast<int>(most);
  for (int round = 0; round < rounds; ++round) { // nodes alternate
    for (std::size_t n = 0; n < on.size(); ++n) {
      if (times[n] > round) {
        nodes.push_back(n);
      }
    }
  }
  return page_map::in_turn(std::move(nodes));
}

/// Pointers to all figures of an input; `Costs` may be const.
template <class Costs>
auto figures_of(Costs& on, input what) {
  std::vector<decltype(&on.lines_in_flight)> all;
  const auto take = [&](auto& from) {
    std::ranges::transform(from, std::back_inserter(all), [](auto& each) { return &each; });
  };
  switch (what) {
  case input::memory:
    take(on.memory);
    break;
  case input::shared_efficiency:
    take(on.shared_efficiency);
    break;
  case input::core:
    take(on.core);
    break;
  case input::latency:
    take(on.latency);
    break;
  case input::links:
    for (auto& each : on.links) {
      all.push_back(&each.bytes_per_s);
    }
    break;
  case input::local_latency:
    for (auto& each : on.local_latency_s) {
      if (each) {
        all.push_back(&*each);
      }
    }
    break;
  case input::lines_in_flight:
    all.push_back(&on.lines_in_flight);
    break;
  }
  return all;
}

machine_costs changed(const machine_costs& on, input what, double factor) {
  machine_costs other = on;
  for (figure* const each : figures_of(other, what)) {
    if (what == input::latency) { // only far memory: the core's bandwidth covers the near one
      each->value = 1 + (each->value - 1) * factor;
    } else {
      each->value *= factor;
    }
    if (what == input::shared_efficiency) {
      each->value = std::min(1.0, each->value);
    }
  }
  return other;
}

/// The figure of the resource of this kind that is waited for most; nullptr if there is none.
const figure* binding_figure(const machine_costs& on, const std::vector<resource_load>& loads,
                             input what) {
  for (const resource_load& load : loads) { // the one that binds most comes first
    if (load.bound <= 0) {
      break;
    }
    if (load.kind == resource_kind::memory && what == input::memory) {
      return &on.memory[load.at];
    }
    if (load.kind == resource_kind::memory && what == input::shared_efficiency) {
      return &on.shared_efficiency[load.at];
    }
    if (load.kind == resource_kind::core && what == input::core) {
      return &on.core[load.at];
    }
    if (load.kind == resource_kind::link && what == input::links) {
      return &on.links[load.at].bytes_per_s;
    }
  }
  return nullptr;
}

/// For each node, where first touch by its processors puts pages: a node may have no memory.
std::vector<std::size_t> nearest_of_all(const machine_costs& on) {
  node_set all;
  for (const node_id node : on.nodes) {
    all.insert(node);
  }
  return nearest_memory(on, all);
}

} // namespace

std::vector<alternative> alternatives(const machine_costs& on, const traffic& what) {
  const std::vector<std::size_t> nearest = nearest_of_all(on);
  std::vector<double> has_memory;
  std::vector<double> bandwidth;
  std::vector<std::vector<double>> own(on.size(), std::vector<double>(on.size(), 0));
  for (std::size_t n = 0; n < on.size(); ++n) {
    has_memory.push_back(on.memory[n].value > 0 ? 1 : 0);
    bandwidth.push_back(on.memory[n].value == unlimited ? 1 : on.memory[n].value);
    own[n][nearest[n]] = 1;
  }
  const auto seconds = [&](const std::vector<std::vector<double>>& shares) {
    return price(on, spread(on, what, shares)).seconds;
  };
  std::vector<alternative> all = {
      {"on the node of its thread", seconds(own)},
      {"in turn over all nodes", seconds(std::vector(on.size(), by_weight(has_memory)))},
      {"over all nodes by their bandwidth", seconds(std::vector(on.size(), by_weight(bandwidth)))},
  };
  sort_by_time(all);
  return all;
}

std::vector<alternative> alternatives(const machine_costs& on, const loop& what, reading by) {
  const auto seconds = [&](const page_map& map) {
    loop other = what;
    other.maps.assign(what.arrays.size(), map);
    return seconds_by(on, other, by, usual_pieces);
  };
  loop touching = what;
  if (what.how.is_pooled()) {
    touching.how = {};
  }
  std::vector<alternative> all = {
      {what.how.is_pooled() ? "in a block for each thread" : "where this loop first touches it",
       seconds(first_touch(on, touching).replaced(nearest_of_all(on)))},
      {"in turn over all nodes", seconds(in_turn_by(on, [](double) { return 1.0; }))},
      {"over all nodes by their bandwidth", seconds(in_turn_by(on, [](double x) { return x; }))},
  };
  sort_by_time(all);
  return all;
}

std::string_view to_string(input what) noexcept {
  constexpr std::array<std::string_view, 7> names = {"memory bandwidth",
                                                     "efficiency of a shared memory",
                                                     "bandwidth of a core",
                                                     "latency of far memory",
                                                     "links",
                                                     "latency of near memory",
                                                     "lines in flight"};
  return names[static_cast<std::size_t>(what)];
}

std::vector<sensitivity> sensitivities(const machine_costs& on,
                                       const std::vector<resource_load>& loads,
                                       const std::function<double(const machine_costs&)>& seconds,
                                       double part) {
  const double now = seconds(on);
  std::vector<sensitivity> all;
  for (const input what : {input::memory, input::shared_efficiency, input::core, input::latency,
                           input::links, input::local_latency, input::lines_in_flight}) {
    std::vector<const figure*> limits = figures_of(on, what);
    std::erase_if(limits, [&](const figure* each) {
      return each->value <= 0 || each->value == unlimited ||
             (what == input::latency && each->value == 1);
    });
    if (limits.empty()) {
      continue;
    }
    const figure* const binding = binding_figure(on, loads, what);
    const figure& shown =
        binding != nullptr ? *binding : **std::ranges::max_element(limits, {}, &figure::from);
    all.push_back({what, shown.from, shown.source, seconds(changed(on, what, 1 - part)) / now - 1,
                   seconds(changed(on, what, 1 + part)) / now - 1});
  }
  return all;
}

} // namespace nodewise::model
