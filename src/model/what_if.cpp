// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The same traffic placed differently, and the same placement on a slightly different machine.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "model/predict.hpp"
#include "model/resettle.hpp"

namespace nodewise::model {

namespace {

/// The weight of each memory, equal or by bandwidth; 0 for a node without memory.
std::vector<double> weights_of(const machine_costs& on, bool by_bandwidth) {
  std::vector<double> weights;
  for (const figure& memory : on.memory) {
    const double equal = memory.value > 0 ? 1 : 0;
    weights.push_back(by_bandwidth && memory.value != unlimited ? memory.value : equal);
  }
  return weights;
}

std::vector<alternative> by_time(std::vector<alternative> all) {
  std::ranges::sort(all, {}, [](const alternative& each) {
    return std::pair(each.seconds, each.name); // a fixed order for equal times
  });
  return all;
}

/// Pages in turn, each node as often as its weight, in quarters of the least.
page_map in_turn_by(std::vector<double> weights) {
  double least = unlimited;
  for (const double weight : weights) {
    least = weight > 0 ? std::min(least, weight) : least;
  }
  constexpr double parts = 4;
  constexpr double most = 255;
  bool equal = true;
  for (double& each : weights) {
    equal = equal && (each == 0 || each == least);
    each = std::min(most, std::round(each / least * parts));
  }
  std::vector<std::size_t> nodes;
  const int rounds = equal ? 1 : static_cast<int>(most);
  for (int round = 0; round < rounds; ++round) { // nodes alternate
    for (std::size_t n = 0; n < weights.size(); ++n) {
      if (weights[n] > round) {
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
  const auto take = [&](input of, auto& from, auto figure_in) {
    if (of == what) {
      std::ranges::transform(from, std::back_inserter(all), figure_in);
    }
  };
  const auto itself = [](auto& each) { return &each; };
  take(input::memory, on.memory, itself);
  take(input::shared_efficiency, on.shared_efficiency, itself);
  take(input::core, on.core, itself);
  take(input::latency, on.latency, itself);
  take(input::links, on.links, [](auto& each) { return &each.bytes_per_s; });
  take(input::local_latency, on.local_latency_s,
       [](auto& each) { return each ? &*each : nullptr; });
  if (what == input::lines_in_flight) {
    all.push_back(&on.lines_in_flight);
  }
  std::erase(all, nullptr);
  return all;
}

machine_costs changed(const machine_costs& on, input what, double factor) {
  machine_costs other = on;
  for (figure* const each : figures_of(other, what)) {
    // Of latencies, only those of far memory: the core's bandwidth covers the near one.
    const double least = what == input::latency ? 1 : 0;
    each->value = least + (each->value - least) * factor;
    if (what == input::shared_efficiency) {
      each->value = std::min(1.0, each->value);
    }
  }
  return other;
}

/// Whether the figures limit resources of this kind.
bool limits(input what, resource_kind kind) {
  switch (kind) {
  case resource_kind::memory:
    return what == input::memory || what == input::shared_efficiency;
  case resource_kind::core:
    return what == input::core;
  case resource_kind::link:
    return what == input::links;
  case resource_kind::thread:
    break;
  }
  return false;
}

/// For each node, where first touch by its processors puts pages: a node may have no memory.
std::vector<std::size_t> nearest_of_all(const machine_costs& on) {
  node_set all;
  std::ranges::for_each(on.nodes, [&](node_id node) { all.insert(node); });
  return nearest_memory(on, all);
}

} // namespace

std::vector<alternative> alternatives(const machine_costs& on, const traffic& what) {
  const auto seconds = [&](const memory_shares& shares) {
    return price(on, placed(on, what, shares)).seconds;
  };
  const auto over_all = [&](bool by_bandwidth) {
    return shares_by(on, weights_of(on, by_bandwidth));
  };
  return by_time({{"on the node of its thread", seconds(shares_on(nearest_of_all(on)))},
                  {"in turn over all nodes", seconds(over_all(false))},
                  {"over all nodes by their bandwidth", seconds(over_all(true))}});
}

std::vector<alternative> alternatives(const machine_costs& on, const loop& what, reading by) {
  const auto seconds = [&](const page_map& map) {
    loop other = what;
    other.maps.assign(what.arrays.size(), map);
    return seconds_by(on, other, by, usual_pieces);
  };
  loop touching = what;
  touching.how = what.how.is_pooled() ? schedule() : what.how;
  return by_time({
      {what.how.is_pooled() ? "in a block for each thread" : "where this loop first touches it",
       seconds(first_touch(on, touching).replaced(nearest_of_all(on)))},
      {"in turn over all nodes", seconds(in_turn_by(weights_of(on, false)))},
      {"over all nodes by their bandwidth", seconds(in_turn_by(weights_of(on, true)))},
  });
}

std::optional<double> ratio_to_best(const prediction& of,
                                    const std::vector<alternative>& others) noexcept {
  return others.empty() || !(others.front().seconds > 0)
             ? std::nullopt
             : std::optional(of.seconds / others.front().seconds);
}

std::string_view to_string(input what) noexcept {
  constexpr std::array names = {"memory bandwidth",
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
    std::vector<const figure*> known = figures_of(on, what);
    std::erase_if(known, [&](const figure* each) {
      return each->value <= 0 || each->value == unlimited ||
             (what == input::latency && each->value == 1);
    });
    if (known.empty()) {
      continue;
    }
    const auto binding = std::ranges::find_if(loads, [&](const resource_load& load) {
      return load.bound > 0 && limits(what, load.kind); // the one that binds most comes first
    });
    const figure& shown = binding != loads.end()
                              ? *figures_of(on, what)[binding->at]
                              : **std::ranges::max_element(known, {}, &figure::from);
    all.push_back({what, shown.from, shown.source, seconds(changed(on, what, 1 - part)) / now - 1,
                   seconds(changed(on, what, 1 + part)) / now - 1});
  }
  return all;
}

} // namespace nodewise::model
