// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/costs.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <nodewise/error.hpp>

namespace nodewise::model {

namespace {

constexpr std::array<std::string_view, 4> origins = {"measured", "published", "given", "assumed"};

/// The origin of a source in a machine file: "measured ...", "given ...", "assumed ..."; all else
/// is a publication.
origin origin_of(std::string_view source) {
  const auto* const found = std::ranges::find_if(
      origins, [&](std::string_view name) { return source.starts_with(name); });
  return found == origins.end() ? origin::published : static_cast<origin>(found - origins.begin());
}

std::size_t position(const machine& in, node_id node) {
  const auto found = std::ranges::find(in.nodes, node, &memory_node::id);
  return static_cast<std::size_t>(found - in.nodes.begin());
}

void check(const parameter& each, const known_parameter& known, const machine& in) {
  const auto wrong = [&](const std::string& what, const std::string& hint) {
    throw error(error_kind::input,
                fmt::format("parameter {} from node {} to {} of machine '{}'", each.name, each.from,
                            each.to, in.name),
                what, hint);
  };
  if (each.unit != known.unit) {
    wrong(fmt::format("its unit is \"{}\"", each.unit), fmt::format("give it in {}", known.unit));
  }
  // Wide enough for any machine, narrow enough for arithmetic.
  if (!(each.value >= 1e-9 && each.value <= 1e12)) {
    wrong(fmt::format("the value {} is out of range", each.value),
          "give a value from 1e-9 to 1e12");
  }
  if (known.name == "shared_efficiency" && each.value > 1) {
    wrong(fmt::format("the value {} is above 1", each.value),
          "give a share, above 0 and at most 1");
  }
}

using link_positions = std::vector<std::vector<std::size_t>>; ///< in `links`, by node

constexpr std::size_t unreached = std::numeric_limits<std::size_t>::max();

/// All shortest ways from one node.
struct ways_from {
  std::vector<std::size_t> hops;  ///< to each node
  std::vector<double> ways;       ///< number of shortest ones
  std::vector<std::size_t> order; ///< nodes, nearest first
};

ways_from search(std::size_t start, const link_positions& leaving, const std::vector<link>& links) {
  ways_from found{
      std::vector(leaving.size(), unreached), std::vector(leaving.size(), 0.0), {start}};
  found.hops[start] = 0;
  found.ways[start] = 1;
  for (std::size_t next = 0; next < found.order.size(); ++next) {
    const std::size_t here = found.order[next];
    for (const std::size_t l : leaving[here]) {
      const std::size_t there = links[l].to;
      if (found.hops[there] == unreached) {
        found.hops[there] = found.hops[here] + 1;
        found.order.push_back(there);
      }
      if (found.hops[there] == found.hops[here] + 1) {
        found.ways[there] += found.ways[here];
      }
    }
  }
  return found;
}

/// Walks back from the end and gives each link the part of the ways that cross it.
route back_from(std::size_t end, const ways_from& found, const link_positions& arriving,
                const std::vector<link>& links) {
  route way;
  std::vector<double> share(found.hops.size(), 0);
  share[end] = 1;
  for (auto node = found.order.rbegin(); node != found.order.rend(); ++node) {
    if (share[*node] == 0) {
      continue;
    }
    for (const std::size_t l : arriving[*node]) {
      const std::size_t before = links[l].from;
      if (found.hops[before] != unreached && found.hops[before] + 1 == found.hops[*node]) {
        const double part = share[*node] * found.ways[before] / found.ways[*node];
        share[before] += part;
        way.push_back({l, part});
      }
    }
  }
  return way;
}

} // namespace

std::string_view to_string(origin from) noexcept {
  return origins[static_cast<std::size_t>(from)];
}

file_figures::file_figures(const machine& of) {
  for (const parameter& each : of.parameters) {
    const auto* const known =
        std::ranges::find(known_parameters, std::string_view(each.name), &known_parameter::name);
    if (known != known_parameters.end()) {
      check(each, *known, of);
      // If a figure is given twice, the last one counts, so that one can be added after a file's.
      figures_[{known->name, position(of, each.from), position(of, each.to)}] = {
          each.value * known->scale, origin_of(each.source), each.source};
    } else if (!each.name.starts_with("read_") && !each.name.starts_with("write_")) {
      unknown.push_back(each.name); // read_ and write_ are hwloc's, beside the mean
    }
  }
}

std::optional<figure> file_figures::find(std::string_view name, std::size_t from,
                                         std::size_t to) const {
  const auto found = figures_.find({name, from, to});
  return found == figures_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<figure> file_figures::any(std::string_view name) const {
  const auto found = figures_.lower_bound({name, 0, 0});
  return found == figures_.end() || std::get<0>(found->first) != name
             ? std::nullopt
             : std::optional(found->second);
}

pair_figures with_assumed(pair_figures known, const machine& of) {
  const std::size_t n = of.nodes.size();
  const auto distance = [&](std::size_t pair) { // and whether it is the same node
    return std::pair(pair / n == pair % n,
                     of.distances.empty() ? 0 : of.distances[pair / n][pair % n]);
  };
  std::map<std::pair<bool, int>, figure> first;
  for (std::size_t pair = 0; pair < known.size(); ++pair) {
    if (known[pair]) {
      first.try_emplace(distance(pair),
                        figure{known[pair]->value, origin::assumed,
                               fmt::format("assumed: as from node {} to {}", of.nodes[pair / n].id,
                                           of.nodes[pair % n].id)});
    }
  }
  for (std::size_t pair = 0; pair < known.size(); ++pair) {
    if (const auto like = first.find(distance(pair)); !known[pair] && like != first.end()) {
      known[pair] = like->second;
    }
  }
  return known;
}

std::vector<route> shortest_routes(std::size_t nodes, const std::vector<link>& links) {
  link_positions leaving(nodes);
  link_positions arriving(nodes);
  for (std::size_t l = 0; l < links.size(); ++l) {
    leaving[links[l].from].push_back(l);
    arriving[links[l].to].push_back(l);
  }
  std::vector<route> all(nodes * nodes);
  for (std::size_t from = 0; from < nodes; ++from) {
    const ways_from found = search(from, leaving, links);
    for (std::size_t to = 0; to < nodes; ++to) {
      if (to != from && found.hops[to] != unreached) {
        all[from * nodes + to] = back_from(to, found, arriving, links);
      }
    }
  }
  return all;
}

std::optional<std::size_t> machine_costs::position_of(node_id node) const noexcept {
  const auto found = std::ranges::lower_bound(nodes, node);
  return found == nodes.end() || *found != node
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - nodes.begin()));
}

std::optional<std::size_t> machine_costs::core_of(cpu_id cpu) const noexcept {
  const auto found = std::ranges::find_if(cores, [&](const core_unit& each) {
    return std::ranges::find(each.cpus, cpu) != each.cpus.end();
  });
  return found == cores.end() ? std::nullopt
                              : std::optional(static_cast<std::size_t>(found - cores.begin()));
}

double machine_costs::far_work(std::size_t memory_at) const noexcept {
  // `shared_efficiency` applies if all cores draw alike: near share * 1 + far share * work = 1 /
  // efficiency.
  const double share = near_share[memory_at];
  return share >= 1 ? 1
                    : std::max(1.0, (1 / shared_efficiency[memory_at].value - share) / (1 - share));
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
