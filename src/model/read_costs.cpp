// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include <nodewise/error.hpp>

#include "model/costs.hpp"
#include "model/routes.hpp"
#include "model/said_figures.hpp"
#include "topology/node_of_cpu.hpp"

namespace nodewise::model {

namespace {

std::string number(node_id id) {
  return std::to_string(to_int(id));
}

figure assumed(double value, std::string why) {
  return {value, origin::assumed, "assumed: " + std::move(why)};
}

/// Builds a machine's costs term by term.
class costs_builder {
 public:
  costs_builder(const machine& what, hypothesis bandwidths_are_of)
      : machine_(what), said_(what), hypothesis_(bandwidths_are_of) {
    for (const memory_node& node : what.nodes) {
      costs_.nodes.push_back(node.id);
    }
    if (std::ranges::adjacent_find(costs_.nodes, std::ranges::greater_equal()) !=
        costs_.nodes.end()) {
      refuse("its nodes are not in ascending order", "sort them by their numbers");
    }
    cores_by_node_.resize(costs_.size());
    for (const std::string& name : said_.unknown()) {
      remark("the model knows no parameter '" + name + "'");
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
        said_.any("lines_in_flight")
            .value_or(assumed(10, "the line fill buffers of many x86-64 cores"));
    return std::move(costs_);
  }

 private:
  void refuse(const std::string& what, const std::string& hint) const {
    throw error(error_kind::input, "the costs of machine '" + machine_.name + "'", what, hint);
  }
  void remark(std::string text) {
    if (std::ranges::find(costs_.remarks, text) == costs_.remarks.end()) {
      costs_.remarks.push_back(std::move(text));
    }
  }
  [[nodiscard]] std::size_t at(std::size_t from, std::size_t to) const {
    return from * costs_.size() + to;
  }
  [[nodiscard]] std::optional<figure> between(std::string_view name, std::size_t from,
                                              std::size_t to) const {
    return said_.find(name, from, to);
  }
  [[nodiscard]] std::size_t cores_of(std::size_t node) const { return cores_by_node_[node]; }

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
    const auto node = costs_.position_of(node_of_cpu(machine_, *cpus.begin()));
    if (node) {
      costs_.cores.push_back({*node, {cpus.begin(), cpus.end()}});
      ++cores_by_node_[*node];
    }
  }

  /// Calls `look` for every pair.
  template <class Look>
  [[nodiscard]] pair_figures all_pairs(const Look& look) const {
    pair_figures::lookup known;
    for (std::size_t from = 0; from < costs_.size(); ++from) {
      for (std::size_t to = 0; to < costs_.size(); ++to) {
        known.push_back(look(from, to));
      }
    }
    return {machine_, std::move(known)};
  }

  /// The latency of the node's own memory; of the nearest known one if the node has no memory.
  [[nodiscard]] std::optional<figure> said_near_latency(std::size_t from) const {
    if (auto own = between("latency", from, from)) {
      return own;
    }
    std::optional<figure> nearest;
    for (std::size_t to = 0; to < costs_.size() && !has_memory(from); ++to) {
      const auto found = between("latency", from, to);
      if (found && (!nearest || found->value < nearest->value)) {
        nearest = found;
      }
    }
    return nearest;
  }
  /// Relative to the near memory's latency; nullopt if neither latencies nor bandwidths give it.
  [[nodiscard]] std::optional<figure> said_latency_ratio(std::size_t from, std::size_t to) const {
    const auto ratio = [](double value, const figure& of, const std::string& source) {
      return figure{std::max(1.0, value), of.from, source};
    };
    const auto near = said_near_latency(from);
    const auto far = between("latency", from, to);
    if (near && far) {
      return ratio(far->value / near->value, *far, far->source);
    }
    if (hypothesis_ == hypothesis::processors) {
      const auto local = between("bandwidth", from, from);
      const auto remote = between("bandwidth", from, to);
      if (local && remote) {
        return ratio(local->value / remote->value, *remote,
                     remote->source + ": local over remote bandwidth");
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] figure latency_ratio(const pair_figures& pairs, std::size_t from, std::size_t to) {
    if (from == to) {
      return {1, origin::measured, "by definition"};
    }
    if (auto found = pairs.of(from, to)) {
      return *found;
    }
    if (!machine_.distances.empty()) {
      remark("latencies are assumed to go like the firmware's distances");
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
        all_pairs([this](std::size_t a, std::size_t b) { return said_latency_ratio(a, b); });
    for (std::size_t from = 0; from < costs_.size(); ++from) {
      for (std::size_t to = 0; to < costs_.size(); ++to) {
        costs_.latency.push_back(latency_ratio(pairs, from, to));
      }
    }
    add_near_latencies();
  }
  void add_near_latencies() {
    std::optional<figure> any;
    for (std::size_t node = 0; node < costs_.size(); ++node) {
      const std::optional<figure> said = said_near_latency(node);
      if (said && !any) {
        any = assumed(said->value, "as node " + number(costs_.nodes[node]));
      }
      costs_.local_latency_s.push_back(said);
    }
    for (std::optional<figure>& latency : costs_.local_latency_s) {
      latency = latency ? latency : any;
    }
  }

  /// A memory without processors of its own is near to those that reach it fastest.
  void add_near() {
    const std::size_t n = costs_.size();
    costs_.near.assign(n * n, 0);
    costs_.near_share.assign(n, 0);
    for (std::size_t to = 0; to < n; ++to) {
      double nearest = cores_of(to) > 0 ? 0 : unlimited;
      for (std::size_t from = 0; from < n && nearest > 0; ++from) {
        if (cores_of(from) > 0) {
          nearest = std::min(nearest, costs_.latency_ratio(from, to));
        }
      }
      for (std::size_t from = 0; from < n; ++from) {
        const bool near = nearest == 0 ? from == to : costs_.latency_ratio(from, to) <= nearest;
        costs_.near[at(from, to)] = static_cast<char>(near);
        if (near) {
          costs_.near_share[to] +=
              static_cast<double>(cores_of(from)) / static_cast<double>(costs_.cores.size());
        }
      }
    }
  }

  /// Whether all processors of the machine were measured to draw more from the memory than its own
  /// do, beyond noise. Then the own figure is a limit of these processors, not of the memory.
  [[nodiscard]] bool own_cores_are_the_limit(std::size_t node) const {
    constexpr double noise = 1.02;
    const auto own = between("bandwidth", node, node);
    const auto all = between("shared_bandwidth", node, node);
    return own && all && all->value > own->value * noise;
  }
  /// The best bandwidth that any processors get from the memory.
  [[nodiscard]] std::optional<figure> said_memory(std::size_t node) const {
    if (own_cores_are_the_limit(node)) {
      return between("shared_bandwidth", node, node);
    }
    if (auto own = between("bandwidth", node, node)) {
      return own;
    }
    std::optional<figure> best;
    for (std::size_t from = 0; from < costs_.size() && cores_of(node) == 0; ++from) {
      const auto found = between("bandwidth", from, node);
      if (found && (!best || found->value > best->value)) {
        best = found;
      }
    }
    return best;
  }
  [[nodiscard]] std::optional<figure> memory_like(std::size_t node) const {
    for (std::size_t other = 0; other < costs_.size(); ++other) {
      if (machine_.nodes[other].kind != machine_.nodes[node].kind) {
        continue;
      }
      if (const auto found = said_memory(other)) {
        return assumed(found->value, "as node " + number(costs_.nodes[other]));
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] figure memory_of(std::size_t node) {
    if (!has_memory(node)) {
      return {0, origin::measured, "no memory"};
    }
    if (hypothesis_ == hypothesis::processors && says_cores()) {
      return assumed(unlimited, "published bandwidths are limits of the processors");
    }
    if (auto found = said_memory(node)) {
      return *found;
    }
    if (auto found = memory_like(node)) {
      return *found;
    }
    remark(costs_.absolute ? "the bandwidth of a kind of memory is unknown and taken as 1 GB/s"
                           : "no bandwidth is known: all memories are taken as equal");
    return assumed(costs_.absolute ? 1e9 : 1, "unknown");
  }
  void add_memories() {
    bool any = false;
    for (std::size_t node = 0; node < costs_.size(); ++node) {
      any = any || has_memory(node);
      costs_.absolute = costs_.absolute || said_memory(node).has_value();
    }
    if (!any) {
      refuse("no node has memory", "give memory_bytes of its nodes");
    }
    for (std::size_t node = 0; node < costs_.size(); ++node) {
      costs_.memory.push_back(memory_of(node));
    }
  }

  /// The node's own figure; else that of another node; else from the node's bandwidth.
  [[nodiscard]] std::optional<figure> said_core(std::size_t node) const {
    // A measurement of all cores together takes precedence over what one core draws alone.
    const bool measured = own_cores_are_the_limit(node) && cores_of(node) > 0;
    if (auto found = between("core_bandwidth", node, node); found && !measured) {
      return found;
    }
    if (auto found = said_.any("core_bandwidth"); found && !measured) {
      return assumed(found->value, "as another node");
    }
    const auto all = between("bandwidth", node, node);
    if ((measured || hypothesis_ == hypothesis::processors) && all && cores_of(node) > 0) {
      return figure{all->value / static_cast<double>(cores_of(node)), all->from,
                    all->source + ": the node's bandwidth over its cores"};
    }
    return std::nullopt;
  }
  /// Whether what a core can draw is known for any node; it is then assumed for all of them.
  [[nodiscard]] bool says_cores() const {
    for (std::size_t node = 0; node < costs_.size(); ++node) {
      if (cores_of(node) > 0 && said_core(node)) {
        return true;
      }
    }
    return false;
  }
  void add_core_bandwidths() {
    for (std::size_t node = 0; node < costs_.size(); ++node) {
      std::optional<figure> found = said_core(node);
      for (std::size_t other = 0; other < costs_.size() && !found; ++other) {
        if (const auto like = said_core(other); like && cores_of(node) > 0) {
          found = assumed(like->value, "as node " + number(costs_.nodes[other]));
        }
      }
      if (!found && cores_of(node) > 0) {
        remark("what one core can draw is unknown: it is taken not to be a limit");
      }
      costs_.core.push_back(found.value_or(assumed(unlimited, "unknown, no limit")));
    }
  }

  /// What all processors were measured to draw from the memory, relative to what its own draw.
  [[nodiscard]] std::optional<figure> measured_efficiency(std::size_t node) const {
    const auto own = between("bandwidth", node, node);
    const auto all = between("shared_bandwidth", node, node);
    if (!own || !all || costs_.near_share[node] >= 1) {
      return std::nullopt; // if all processors are its own, nothing is lost
    }
    return figure{std::min(1.0, all->value / own->value), all->from, all->source};
  }
  void add_efficiencies() {
    const auto any = said_.any("shared_efficiency");
    for (std::size_t node = 0; node < costs_.size(); ++node) {
      if (auto found = between("shared_efficiency", node, node)) {
        costs_.shared_efficiency.push_back(*found);
      } else if (auto measured = measured_efficiency(node)) {
        costs_.shared_efficiency.push_back(*measured);
      } else if (any) {
        costs_.shared_efficiency.push_back(assumed(any->value, "as another node"));
      } else {
        if (has_memory(node) && costs_.near_share[node] < 1) {
          remark("what a memory loses to many far processors is unknown: nothing is assumed");
        }
        costs_.shared_efficiency.push_back(assumed(1, "no loss"));
      }
    }
  }

  /// "from" and "to" mean processors and memory, as in all parameters.
  void add_ways() {
    const std::size_t n = costs_.size();
    for (std::size_t from = 0; from < n; ++from) {
      for (std::size_t to = 0; to < n; ++to) {
        if (const auto found = between("link_bandwidth", from, to)) {
          costs_.links.push_back({to, from, false, *found});
        } else if (const auto back = between("link_bandwidth", to, from)) {
          costs_.links.push_back({to, from, false, assumed(back->value, "as its other direction")});
        }
      }
    }
    if (!costs_.links.empty()) {
      add_routes();
      return;
    }
    costs_.read_ways.resize(n * n);
    if (hypothesis_ == hypothesis::memory) {
      add_paths();
    }
    costs_.write_ways = costs_.read_ways;
  }
  void add_routes() {
    const std::size_t n = costs_.size();
    const std::vector<route> routes = shortest_routes(n, costs_.links);
    costs_.read_ways.resize(n * n);
    costs_.write_ways = routes;
    for (std::size_t from = 0; from < n; ++from) {
      for (std::size_t to = 0; to < n; ++to) {
        costs_.read_ways[at(from, to)] = routes[at(to, from)];
        if (from != to && routes[at(to, from)].empty() && cores_of(from) > 0 && has_memory(to)) {
          remark("no links lead between some nodes: those ways are taken not to be a limit");
        }
      }
    }
  }
  void add_paths() {
    const pair_figures pairs =
        all_pairs([this](std::size_t a, std::size_t b) { return between("bandwidth", a, b); });
    for (std::size_t from = 0; from < costs_.size(); ++from) {
      for (std::size_t to = 0; to < costs_.size(); ++to) {
        if (from == to || cores_of(from) == 0 || !has_memory(to)) {
          continue;
        }
        const std::optional<figure> found = pairs.of(from, to);
        if (!found) {
          remark("links are unknown: they are taken not to be a limit");
          continue;
        }
        costs_.read_ways[at(from, to)] = {{costs_.links.size(), 1}};
        costs_.links.push_back({to, from, true, *found});
      }
    }
  }

  const machine& machine_;
  said_figures said_;
  hypothesis hypothesis_;
  std::vector<std::size_t> cores_by_node_;
  machine_costs costs_;
};

} // namespace

machine_costs costs_of(const machine& what, hypothesis bandwidths_are_of) {
  return costs_builder(what, bandwidths_are_of).build();
}

} // namespace nodewise::model
