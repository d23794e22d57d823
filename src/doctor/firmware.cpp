// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/examine.hpp"

#include <ranges>

#include "topology/part_sets.hpp"

namespace nodewise::doctor {

namespace {

constexpr int local_distance = 10;
/// REMOTE_DISTANCE of Linux: its default if the firmware has no table of distances.
constexpr int assumed_distance = 20;
/// One figure 10 % too high, the other 10 % too low.
constexpr double most_error = 1.1 / 0.9;

constexpr const char* use_costs = "compare nodes by measured costs (nodewise measure)";

/// The value of an option on the kernel's command line; the last one counts.
std::optional<std::string_view> option(std::string_view line, std::string_view name) {
  std::optional<std::string_view> value;
  for (const std::string_view word : split(line, ' ')) {
    if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) {
      value = word.substr(name.size() + 1);
    }
  }
  return value;
}

/// All distances from one node to another.
std::vector<int> remote_distances(const machine& of) {
  std::vector<int> all;
  for (std::size_t i = 0; i < of.distances.size(); ++i) {
    for (std::size_t j = 0; j < of.distances[i].size(); ++j) {
      if (i != j) {
        all.push_back(of.distances[i][j]);
      }
    }
  }
  return all;
}

/// The measured figures of one name, by pair of nodes.
std::map<std::pair<node_id, node_id>, const parameter*> measured(const machine& of,
                                                                 std::string_view name) {
  std::map<std::pair<node_id, node_id>, const parameter*> figures;
  for (const parameter& each : of.parameters) {
    if (each.name == name && each.source.starts_with("measured") && each.value > 0) {
      figures.try_emplace({each.from, each.to}, &each);
    }
  }
  return figures;
}

/// The cost of the first relative to the second: above 1, the first costs more.
double costs_more(const parameter& first, const parameter& second) {
  return first.name == "latency" ? first.value / second.value : second.value / first.value;
}

std::string words_of(const contradiction& c) {
  return fmt::format("{} from node {} is {:.3g} {} to node {} (distance {}), "
                     "{:.3g} {} to node {} (distance {})",
                     c.name, c.from, c.near_value, c.unit, c.near, c.near_distance, c.far_value,
                     c.unit, c.far, c.far_distance);
}

} // namespace

finding examine_nodes(const machine& of, std::string_view command_line) {
  const std::string name = "firmware_nodes";
  const std::string nodes = counted(of.nodes.size(), "node");
  const std::string found = fmt::format("{} in {}", nodes, counted(of.packages.size(), "package"));
  const auto numa = option(command_line, "numa");
  if (numa && (*numa == "off" || *numa == "noacpi")) {
    return doubtful(
        name,
        fmt::format("{}: the kernel was started with numa={} and ignores nodes", found, *numa),
        "remove it from the kernel's command line");
  }
  if (numa && numa->starts_with("fake=")) {
    return doubtful(name,
                    fmt::format("{}: the nodes are made up by numa={} on the kernel's command line",
                                found, *numa),
                    "remove it, except for tests");
  }
  if (of.packages.empty()) {
    return of.nodes.size() > 1 ? fine(name, nodes) : unreadable(name);
  }
  if (of.nodes.size() == 1 && of.packages.size() > 1) {
    if (of.nodes.front().id != node_id{0}) {
      return fine(name, found + ": other nodes are offline");
    }
    return doubtful(name,
                    found + ": the firmware or a hypervisor reports no other node, or it is "
                            "offline; remote memory cannot be distinguished from local memory",
                    "in the firmware's setup, turn node interleaving off and NUMA on; for a "
                    "virtual machine, configure nodes for the guest");
  }
  return fine(name, found);
}

finding examine_distances(const machine& of) {
  const std::string name = "distances";
  const std::vector<int> remote = remote_distances(of);
  if (of.nodes.size() == 1) {
    return fine(name, "one node");
  }
  if (remote.empty()) {
    return unreadable(name);
  }
  const auto [least, most] = std::ranges::minmax(remote);
  if (most == local_distance) {
    return doubtful(name, "all 10: the firmware reports all memory as local", use_costs);
  }
  if (least != most) {
    return fine(name, fmt::format("10 to {}", most));
  }
  if (of.nodes.size() == 2) {
    return fine(name, fmt::format("10 and {}", most));
  }
  const std::string found = fmt::format("10 and {}: no remote node is nearer than another", most);
  return most == assumed_distance
             ? doubtful(name,
                        found + ", as Linux also assumes if the firmware reports no distances",
                        use_costs)
             : fine(name, found);
}

std::vector<contradiction> find_contradictions(const machine& of) {
  std::vector<contradiction> found;
  for (const char* const name : {"latency", "bandwidth"}) {
    const auto figures = measured(of, name);
    for (const auto& [pair, one] : figures) {
      for (const auto& [other_pair, other] : figures) {
        const auto near = of.distance(one->from, one->to);
        const auto far = of.distance(other->from, other->to);
        // If both are equally near, `one` is the costlier: each pair of nodes is reported once.
        if (one->from == other->from && one->to != other->to && one->unit == other->unit && near &&
            far && *near <= *far && costs_more(*one, *other) > most_error) {
          found.push_back({one->from, one->to, other->to, *near, *far, name, one->unit, one->value,
                           other->value});
        }
      }
    }
  }
  return found;
}

finding examine_measured(const machine& of, const unused_costs& unused) {
  const std::string name = "measured_distances";
  if (measured(of, "latency").empty() && measured(of, "bandwidth").empty()) {
    return unreadable(name, unused.why.empty() ? "costs are not measured" : unused.why,
                      unused.cure);
  }
  if (of.distances.empty()) {
    return unreadable(name, "no distances to compare with");
  }
  const std::vector<contradiction> all = find_contradictions(of);
  if (all.empty()) {
    return fine(name, "measured costs do not contradict the distances");
  }
  constexpr std::size_t most_shown = 3;
  std::string found = joined(all | std::views::take(most_shown), "; ", words_of);
  if (all.size() > most_shown) {
    found += fmt::format("; and {} more", all.size() - most_shown);
  }
  return doubtful(name, found, use_costs);
}

finding examine_reach(const machine& of, const allowance& may) {
  const std::string name = "memory_of_processors";
  const auto usable = may.usable_nodes();
  if (!may.cpus_allowed || !usable) {
    return unreadable(name);
  }
  const node_set remote = nodes_if(of, [&](const memory_node& node) {
    return node.cpus.intersects(*may.cpus_allowed) && !usable->contains(node.id);
  });
  const node_set out_of_reach = remote & may.nodes_with_memory.value_or(remote);
  const node_set without = remote - out_of_reach;
  const std::string there = usable->to_string();
  if (!out_of_reach.empty()) {
    return doubtful(
        name,
        fmt::format("this process may run on processors of node {} but not use the "
                    "memory there: all memory that they touch is remote",
                    out_of_reach.to_string()),
        fmt::format("allow the same nodes for processors and memory (cpuset.cpus and "
                    "cpuset.mems, --cpuset-cpus and --cpuset-mems); or use nodewise run "
                    "--cpunodebind {}",
                    there));
  }
  if (!without.empty()) {
    return doubtful(name,
                    fmt::format("this process may run on processors of node {}, which has no "
                                "memory: all memory that they touch is remote",
                                without.to_string()),
                    fmt::format("use nodewise run --cpunodebind {}, or add memory modules to every "
                                "node",
                                there));
  }
  return fine(name, "every node that this process may run on has memory that it may use");
}

} // namespace nodewise::doctor
