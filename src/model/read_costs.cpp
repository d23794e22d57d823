// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <iterator>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "model/costs.hpp"
#include "topology/part_sets.hpp"

namespace nodewise::model {

namespace {

figure assumed(double value, std::string_view why) {
  return {value, origin::assumed, fmt::format("assumed: {}", why)};
}

/// Builds a machine's costs term by term.
class costs_builder {
 public:
  costs_builder(const machine& what, hypothesis bandwidths_are_of)
      : machine_(what), figures_(what), hypothesis_(bandwidths_are_of) {
    std::ranges::transform(what.nodes, std::back_inserter(costs_.nodes), &memory_node::id);
    if (std::ranges::adjacent_find(costs_.nodes, std::ranges::greater_equal()) !=
        costs_.nodes.end()) {
      refuse("its nodes are not in ascending order", "sort them by their numbers");
    }
    cores_by_node_.resize(costs_.size());
    for (const std::string& name : figures_.unknown) {
      remark(fmt::format("the model does not use the parameter '{}'", name));
    }
  }

  machine_costs build() {
    add_cores();
    add_latencies();
    add_near();
    add_memories();
    add_core_bandwidths();
    add_efficiencies();
    add_ways();
    costs_.lines_in_flight =
        figures_.any("lines_in_flight")
            .value_or(assumed(10, "the line fill buffers of many x86-64 cores"));
    return std::move(costs_);
  }

 private:
  void refuse(const std::string& what, const std::string& hint) const {
    throw error(error_kind::input, fmt::format("the costs of machine '{}'", machine_.name), what,
                hint);
  }
  void remark(std::string text) {
    if (std::ranges::find(costs_.remarks, text) == costs_.remarks.end()) {
      costs_.remarks.push_back(std::move(text));
    }
  }
  [[nodiscard]] std::size_t at(std::size_t from, std::size_t to) const {
    return from * costs_.size() + to;
  }
  [[nodiscard]] std::size_t cores_of(std::size_t node) const { return cores_by_node_[node]; }
  /// The figure of the node's processors and its own memory.
  [[nodiscard]] std::optional<figure> own(std::string_view name, std::size_t node) const {
    return figures_.find(name, node, node);
  }

  void add_cores() {
    cpu_set left = machine_.cpus();
    for (const core& each : machine_.cores) {
      add_core(each.cpus);
      left = left - each.cpus;
    }
    for (const cpu_id cpu : left) {
      add_core({cpu});
    }
    if (costs_.cores.empty()) {
      refuse("no node has processors", "name the processors of its nodes");
    }
  }
  void add_core(const cpu_set& cpus) {
    if (cpus.empty()) {
      return;
    }
    if (const auto node = costs_.position_of(node_of_cpu(machine_, *cpus.begin()))) {
      costs_.cores.push_back({*node, {cpus.begin(), cpus.end()}});
      ++cores_by_node_[*node];
    }
  }

  template <class Act>
  void for_all_pairs(const Act& act) const {
    for (std::size_t from = 0; from < costs_.size(); ++from) {
      for (std::size_t to = 0; to < costs_.size(); ++to) {
        act(from, to);
      }
    }
  }
  template <class Look>
  [[nodiscard]] pair_figures all_pairs(const Look& look) const {
    pair_figures known;
    for_all_pairs([&](std::size_t from, std::size_t to) { known.push_back(look(from, to)); });
    return with_assumed(std::move(known), machine_);
  }
  /// The best of the figures that `look` finds for the nodes.
  template <class Look, class Better = std::greater<>>
  [[nodiscard]] std::optional<figure> best_of_nodes(const Look& look, Better better = {}) const {
    std::optional<figure> best;
    for (std::size_t node = 0; node < costs_.size(); ++node) {
      const std::optional<figure> found = look(node);
      if (found && (!best || better(found->value, best->value))) {
        best = found;
      }
    }
    return best;
  }
  /// The first figure that `look` finds for a node, as an assumption for other nodes.
  template <class Look>
  [[nodiscard]] std::optional<figure> as_another_node(const Look& look) const {
    for (std::size_t node = 0; node < costs_.size(); ++node) {
      if (const std::optional<figure> found = look(node)) {
        return assumed(found->value, fmt::format("as node {}", costs_.nodes[node]));
      }
    }
    return std::nullopt;
  }

  /// The latency of the node's own memory; of the nearest known one if the node has no memory.
  [[nodiscard]] std::optional<figure> known_near_latency(std::size_t from) const {
    const auto latency = [&](std::size_t to) { return figures_.find("latency", from, to); };
    const auto local = latency(from);
    return local || has_memory(from) ? local : best_of_nodes(latency, std::less());
  }
  /// Relative to the near memory's latency; nullopt if neither latencies nor bandwidths give it.
  [[nodiscard]] std::optional<figure> known_latency_ratio(std::size_t from, std::size_t to) const {
    const auto ratio = [](double value, const figure& of, const std::string& source) {
      return figure{std::max(1.0, value), of.from, source};
    };
    const auto near = known_near_latency(from);
    if (const auto far = figures_.find("latency", from, to); near && far) {
      return ratio(far->value / near->value, *far, far->source);
    }
    const auto local = own("bandwidth", from);
    const auto remote = figures_.find("bandwidth", from, to);
    if (hypothesis_ == hypothesis::processors && local && remote) {
      return ratio(local->value / remote->value, *remote,
                   remote->source + ": local over remote bandwidth");
    }
    return std::nullopt;
  }
  [[nodiscard]] figure latency_ratio(const pair_figures& pairs, std::size_t from, std::size_t to) {
    if (from == to) {
      return {1, origin::measured, "by definition"};
    }
    if (const auto& found = pairs[at(from, to)]) {
      return *found;
    }
    if (!machine_.distances.empty()) {
      remark("latencies are assumed to be proportional to the firmware's distances");
      return assumed(std::max(1.0, machine_.distances[from][to] / 10.0),
                     "the firmware's distance over 10");
    }
    remark("latencies are unknown: far memory is assumed to take 1.5 times as long");
    return assumed(1.5, "far memory");
  }
  [[nodiscard]] bool has_memory(std::size_t node) const {
    return machine_.nodes[node].memory_bytes > 0;
  }
  void add_latencies() {
    const pair_figures pairs =
        all_pairs([this](std::size_t a, std::size_t b) { return known_latency_ratio(a, b); });
    for_all_pairs([&](std::size_t from, std::size_t to) {
      costs_.latency.push_back(latency_ratio(pairs, from, to));
    });
    const auto any = as_another_node([this](std::size_t n) { return known_near_latency(n); });
    for (std::size_t node = 0; node < costs_.size(); ++node) {
      const auto known = known_near_latency(node);
      costs_.local_latency_s.push_back(known ? known : any);
    }
  }

  /// A memory without processors of its own is near to those that reach it fastest.
  void add_near() {
    const std::size_t n = costs_.size();
    costs_.near.assign(n * n, 0);
    costs_.near_share.assign(n, 0);
    for (std::size_t to = 0; to < n; ++to) {
      double nearest = unlimited;
      for (std::size_t from = 0; from < n; ++from) {
        nearest = cores_of(from) > 0 ? std::min(nearest, costs_.latency_ratio(from, to)) : nearest;
      }
      for (std::size_t from = 0; from < n; ++from) {
        const bool near = cores_of(to) > 0 ? from == to : costs_.latency_ratio(from, to) <= nearest;
        costs_.near[at(from, to)] = static_cast<char>(near);
        costs_.near_share[to] +=
            near ? static_cast<double>(cores_of(from)) / static_cast<double>(costs_.cores.size())
                 : 0;
      }
    }
  }

  /// Whether all processors of the machine were measured to draw more from the memory than its own
  /// do, beyond noise. Then the own figure is a limit of these processors, not of the memory.
  [[nodiscard]] bool own_cores_are_the_limit(std::size_t node) const {
    constexpr double noise = 1.02;
    const auto alone = own("bandwidth", node);
    const auto all = own("shared_bandwidth", node);
    return alone && all && all->value > alone->value * noise;
  }
  /// The best bandwidth that any processors get from the memory.
  [[nodiscard]] std::optional<figure> known_memory(std::size_t node) const {
    if (own_cores_are_the_limit(node)) {
      return own("shared_bandwidth", node);
    }
    const auto bandwidth = [&](std::size_t from) { return figures_.find("bandwidth", from, node); };
    const auto local = bandwidth(node);
    return local || cores_of(node) > 0 ? local : best_of_nodes(bandwidth);
  }
  [[nodiscard]] std::optional<figure> memory_like(std::size_t node) const {
    return as_another_node([&](std::size_t other) {
      const bool is_alike = machine_.nodes[other].kind == machine_.nodes[node].kind;
      return is_alike ? known_memory(other) : std::nullopt;
    });
  }
  [[nodiscard]] figure memory_of(std::size_t node) {
    if (!has_memory(node)) {
      return {0, origin::measured, "no memory"};
    }
    if (hypothesis_ == hypothesis::processors && knows_cores()) {
      return assumed(unlimited, "published bandwidths are limits of the processors");
    }
    const auto known = known_memory(node);
    if (const auto found = known ? known : memory_like(node)) {
      return *found;
    }
    remark(costs_.absolute ? "the bandwidth of a kind of memory is unknown: 1 GB/s is assumed"
                           : "no bandwidth is known: all memories are assumed to be equal");
    return assumed(costs_.absolute ? 1e9 : 1, "unknown");
  }
  void add_memories() {
    const auto no_memory = [](const memory_node& each) { return each.memory_bytes == 0; };
    if (std::ranges::all_of(machine_.nodes, no_memory)) {
      refuse("no node has memory", "give memory_bytes of its nodes");
    }
    costs_.absolute = best_of_nodes([this](std::size_t n) { return known_memory(n); }).has_value();
    for (std::size_t node = 0; node < costs_.size(); ++node) {
      costs_.memory.push_back(memory_of(node));
    }
  }

  /// The node's own figure; else that of another node; else from the node's bandwidth.
  [[nodiscard]] std::optional<figure> known_core(std::size_t node) const {
    // A measurement of all cores together takes precedence over what one core draws alone.
    const bool measured = own_cores_are_the_limit(node) && cores_of(node) > 0;
    if (auto found = own("core_bandwidth", node); found && !measured) {
      return found;
    }
    if (auto found = figures_.any("core_bandwidth"); found && !measured) {
      return assumed(found->value, "as another node");
    }
    const auto all = own("bandwidth", node);
    if ((measured || hypothesis_ == hypothesis::processors) && all && cores_of(node) > 0) {
      return figure{all->value / static_cast<double>(cores_of(node)), all->from,
                    all->source + ": the node's bandwidth over its cores"};
    }
    return std::nullopt;
  }
  /// Whether what a core can draw is known for any node; it is then assumed for all of them.
  [[nodiscard]] bool knows_cores() const {
    const auto core = [this](std::size_t node) {
      return cores_of(node) > 0 ? known_core(node) : std::nullopt;
    };
    return as_another_node(core).has_value();
  }
  void add_core_bandwidths() {
    const auto any = as_another_node([this](std::size_t node) { return known_core(node); });
    for (std::size_t node = 0; node < costs_.size(); ++node) {
      const auto known = known_core(node);
      const auto found = known || cores_of(node) == 0 ? known : any;
      if (!found && cores_of(node) > 0) {
        remark(std::string(core_is_unknown));
      }
      costs_.core.push_back(found.value_or(assumed(unlimited, "unknown, no limit")));
    }
  }

  /// What all processors were measured to draw from the memory, relative to what its own draw.
  [[nodiscard]] std::optional<figure> measured_efficiency(std::size_t node) const {
    const auto alone = own("bandwidth", node);
    const auto all = own("shared_bandwidth", node);
    if (!alone || !all || costs_.near_share[node] >= 1) {
      return std::nullopt; // if all processors are its own, nothing is lost
    }
    return figure{std::min(1.0, all->value / alone->value), all->from, all->source};
  }
  void add_efficiencies() {
    const auto any = figures_.any("shared_efficiency");
    for (std::size_t node = 0; node < costs_.size(); ++node) {
      auto found = own("shared_efficiency", node);
      found = found ? found : measured_efficiency(node);
      if (!found && any) {
        found = assumed(any->value, "as another node");
      }
      if (!found && has_memory(node) && costs_.near_share[node] < 1) {
        remark("the efficiency of a memory that far processors share is unknown: no loss is "
               "assumed");
      }
      costs_.shared_efficiency.push_back(found.value_or(assumed(1, "no loss")));
    }
  }

  /// "from" and "to" mean processors and memory, as in all parameters.
  void add_ways() {
    for_all_pairs([this](std::size_t from, std::size_t to) {
      if (const auto found = figures_.find("link_bandwidth", from, to)) {
        costs_.links.push_back({to, from, false, *found});
      } else if (const auto back = figures_.find("link_bandwidth", to, from)) {
        costs_.links.push_back({to, from, false, assumed(back->value, "as its other direction")});
      }
    });
    costs_.read_ways.resize(costs_.size() * costs_.size());
    costs_.write_ways = shortest_routes(costs_.size(), costs_.links);
    if (!costs_.links.empty()) {
      add_routes();
    } else if (hypothesis_ == hypothesis::memory) {
      add_paths();
    }
  }
  void add_routes() {
    for_all_pairs([&](std::size_t from, std::size_t to) {
      const route& back = costs_.write_ways[at(to, from)];
      costs_.read_ways[at(from, to)] = back;
      if (from != to && back.empty() && cores_of(from) > 0 && has_memory(to)) {
        remark("some nodes are not connected by links: no limit is assumed between them");
      }
    });
  }
  void add_paths() {
    const pair_figures pairs = all_pairs(
        [this](std::size_t a, std::size_t b) { return figures_.find("bandwidth", a, b); });
    for_all_pairs([&](std::size_t from, std::size_t to) {
      if (from == to || cores_of(from) == 0 || !has_memory(to)) {
        return;
      }
      if (const auto& found = pairs[at(from, to)]) {
        costs_.read_ways[at(from, to)] = {{costs_.links.size(), 1}};
        costs_.links.push_back({to, from, true, *found});
      } else {
        remark("links are unknown: no limit is assumed");
      }
    });
    costs_.write_ways = costs_.read_ways;
  }

  const machine& machine_;
  file_figures figures_;
  hypothesis hypothesis_;
  std::vector<std::size_t> cores_by_node_;
  machine_costs costs_;
};

} // namespace

machine_costs costs_of(const machine& what, hypothesis bandwidths_are_of) {
  return costs_builder(what, bandwidths_are_of).build();
}

} // namespace nodewise::model
