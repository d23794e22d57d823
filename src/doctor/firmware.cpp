// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/firmware.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/counted.hpp"

namespace nodewise::doctor {

namespace {

constexpr int local_distance = 10;
/// REMOTE_DISTANCE of Linux: its default if the firmware has no table of distances.
constexpr int assumed_distance = 20;
/// One figure 10 % too high, the other 10 % too low.
constexpr double most_error = 1.1 / 0.9;

/// The value of an option on the kernel's command line; the last one counts.
std::optional<std::string_view> option(std::string_view line, std::string_view name) {
  std::optional<std::string_view> value;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(" \n"), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) {
      value = word.substr(name.size() + 1);
    }
  }
  return value;
}

std::string number(double value) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 3);
  return {text.data(), end.ptr};
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
  const auto node = [](node_id id) { return std::to_string(to_int(id)); };
  const auto side = [&](node_id id, int distance, double value) {
    return number(value) + " " + c.unit + " to node " + node(id) + " (distance " +
           std::to_string(distance) + ")";
  };
  return c.name + " from node " + node(c.from) + " is " +
         side(c.near, c.near_distance, c.near_value) + ", " +
         side(c.far, c.far_distance, c.far_value);
}

} // namespace

finding examine_nodes(const machine& of, std::string_view command_line) {
  const std::string name = "firmware_nodes";
  const std::string found =
      counted(of.nodes.size(), "node") + " in " + counted(of.packages.size(), "package");
  const auto numa = option(command_line, "numa");
  if (numa && (*numa == "off" || *numa == "noacpi")) {
    return doubtful(name,
                    found + ": the kernel was started with numa=" + std::string(*numa) +
                        " and looks at no nodes",
                    "take it off the kernel's command line");
  }
  if (numa && numa->starts_with("fake=")) {
    return doubtful(name,
                    found + ": the nodes are made up, by numa=" + std::string(*numa) +
                        " on the kernel's command line",
                    "take it off, except for tests");
  }
  if (of.packages.empty()) {
    return of.nodes.size() > 1 ? fine(name, counted(of.nodes.size(), "node")) : unreadable(name);
  }
  if (of.nodes.size() == 1 && of.packages.size() > 1) {
    if (of.nodes.front().id != node_id{0}) {
      return fine(name, found + ": other nodes are offline");
    }
    return doubtful(name,
                    found + ": the firmware, or a hypervisor, tells of no other, or it is offline; "
                            "memory that is far cannot be told from memory that is near",
                    "in the firmware's setup: node interleaving off, NUMA on; for a virtual "
                    "machine, give its guest nodes");
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
    return doubtful(name, "all 10: the firmware calls every memory local",
                    "by measured costs, not by distances");
  }
  if (least != most) {
    return fine(name, "10 to " + std::to_string(most));
  }
  const std::string found = "10 and " + std::to_string(most);
  if (of.nodes.size() == 2) {
    return fine(name, found);
  }
  if (most == assumed_distance) {
    return doubtful(name,
                    found + ": no remote node nearer than another, which is also what Linux "
                            "assumes where the firmware has no distances",
                    "by measured costs, not by distances");
  }
  return fine(name, found + ": no remote node nearer than another");
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
    const std::string why = unused.why.empty() ? "costs are not measured" : unused.why;
    return {name, verdict::unavailable, "unavailable: " + why, unused.cure, 0};
  }
  if (of.distances.empty()) {
    return {name, verdict::unavailable, "unavailable: no distances to compare with", "", 0};
  }
  const std::vector<contradiction> all = find_contradictions(of);
  if (all.empty()) {
    return fine(name, "measured costs do not contradict the distances");
  }
  constexpr std::size_t most_told = 3;
  std::string found;
  for (std::size_t i = 0; i < std::min(all.size(), most_told); ++i) {
    found += (i == 0 ? "" : "; ") + words_of(all[i]);
  }
  if (all.size() > most_told) {
    found += "; and " + std::to_string(all.size() - most_told) + " more";
  }
  return doubtful(name, found, "by measured costs, not by distances");
}

finding examine_reach(const machine& of, const allowance& may) {
  const std::string name = "memory_of_processors";
  const auto usable = may.usable_nodes();
  if (!may.cpus_allowed || !usable) {
    return unreadable(name);
  }
  node_set out_of_reach;
  node_set without;
  for (const memory_node& node : of.nodes) {
    if (node.cpus.intersects(*may.cpus_allowed) && !usable->contains(node.id)) {
      const bool has_memory = !may.nodes_with_memory || may.nodes_with_memory->contains(node.id);
      (has_memory ? out_of_reach : without).insert(node.id);
    }
  }
  const std::string their = "this process may run on processors of node ";
  if (!out_of_reach.empty()) {
    return doubtful(name,
                    their + out_of_reach.to_string() +
                        " and have none of the memory there: all they touch is remote",
                    "the same nodes for processors and memory: cpuset.cpus and cpuset.mems, "
                    "--cpuset-cpus and --cpuset-mems; or nodewise run --cpunodebind " +
                        usable->to_string());
  }
  if (!without.empty()) {
    return doubtful(
        name, their + without.to_string() + ", which has no memory: all they touch is remote",
        "nodewise run --cpunodebind " + usable->to_string() + "; or memory modules for every node");
  }
  return fine(name, "there is memory of every node that this process may run on");
}

} // namespace nodewise::doctor
