// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/points.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include <nodewise/error.hpp>
#include <nodewise/team_layout.hpp>

#include "base/counted.hpp"

namespace nodewise::measure {

namespace {

struct node_cores {
  node_id node = unknown_node;
  std::vector<cpu_id> cpus; ///< one for each core
};

std::vector<node_cores> cores_by_node(const topology& on) {
  // A layout with one hardware thread for each core.
  const team_layout layout(on, {.policy = bind_policy::close, .smt = smt_use::off});
  std::vector<node_cores> all;
  for (const domain& each : on.domains()) {
    node_cores own{each.node, {}};
    for (const thread_place& thread : layout.threads()) {
      if (thread.cpu && thread.node == each.node) {
        own.cpus.push_back(*thread.cpu);
      }
    }
    if (!own.cpus.empty()) {
      all.push_back(std::move(own));
    }
  }
  return all;
}

/// 1, 2, 3, 4, 6, 8, 12, 16, ... and `most`.
std::vector<std::size_t> steps_to(std::size_t most) {
  std::vector<std::size_t> steps;
  for (std::size_t power = 1; power <= most; power *= 2) {
    steps.push_back(power);
    if (power >= 2 && power + power / 2 <= most) {
      steps.push_back(power + power / 2);
    }
  }
  if (steps.empty() || steps.back() != most) {
    steps.push_back(most);
  }
  return steps;
}

/// Collects the points of a machine, one experiment after the other.
class planner {
 public:
  planner(const topology& on, const scope& what)
      : on_(on), what_(what), nodes_(cores_by_node(on)),
        bytes_(what.bytes != 0 ? what.bytes
                               : std::min(enough_bytes(on), most_bytes(on, what.memory))) {
    for (const node_id node : on.memory_nodes()) {
      memories_.push_back(node);
    }
    if (nodes_.empty() || memories_.empty()) {
      throw error(error_kind::usage, "measuring this machine",
                  nodes_.empty() ? "no allowed processor belongs to a node"
                                 : "no allowed node has memory",
                  "`nodewise topo` shows what this process may use");
    }
  }

  std::vector<point> plan() {
    for (const experiment each : what_.experiments) {
      (this->*methods[static_cast<std::size_t>(each)])();
    }
    return std::move(points_);
  }

 private:
  using planning = void (planner::*)();
  static const std::array<planning, experiments> methods; ///< in the order of the enumeration

  void add(experiment of, std::string label, work does, node_id from = unknown_node,
           node_id to = unknown_node, std::optional<page_size> pages = {}) {
    points_.push_back(
        {of, std::move(label), from, to, pages.value_or(what_.pages), std::move(does)});
  }
  static const kernel& named(std::string_view name) {
    const kernel* const found = find_kernel(name);
    if (found == nullptr) {
      throw error(error_kind::usage, fmt::format("kernel '{}'", name), "there is no such kernel",
                  "`nodewise measure --help` lists them");
    }
    return *found;
  }
  [[nodiscard]] std::vector<cpu_id> all_cpus() const {
    std::vector<cpu_id> all;
    for (const node_cores& each : nodes_) {
      all.insert(all.end(), each.cpus.begin(), each.cpus.end());
    }
    return all;
  }
  /// The memory nearest to the processors of a node: its own, if it has one.
  [[nodiscard]] node_id near(node_id node) const {
    const auto distance = [&](node_id to) {
      return to == node ? 0 : on_.distance(node, to).value_or(1 << 20);
    };
    return *std::ranges::min_element(memories_, {}, distance);
  }
  /// The cores of these nodes, each on its nearest memory; all share the usual buffer size.
  [[nodiscard]] std::vector<stream_group> local(std::span<const node_cores> nodes,
                                                const kernel& does) const {
    std::vector<stream_group> groups;
    for (const node_cores& each : nodes) {
      groups.push_back({&does, each.cpus, {near(each.node)}, {}, bytes_ / nodes.size()});
    }
    return groups;
  }
  /// The size of a chain that this core follows.
  [[nodiscard]] std::uint64_t chain_bytes(cpu_id cpu) const {
    return what_.bytes != 0 ? what_.bytes : std::min(enough_for_a_chain(on_, cpu), bytes_);
  }
  /// The size of arrays that only these cores sweep over.
  [[nodiscard]] std::uint64_t bytes_for(const std::vector<cpu_id>& cpus) const {
    return what_.bytes != 0 ? what_.bytes : std::min(enough_bytes(on_, set_of(cpus)), bytes_);
  }
  static std::string way(node_id from, node_id to) {
    return fmt::format("node {} -> node {}", from, to);
  }

  /// One point for each node's processors and each memory.
  template <class Make>
  void add_pairs(experiment of, const Make& make) {
    for (const node_cores& from : nodes_) {
      for (const node_id to : memories_) {
        add(of, way(from.node, to), make(from.cpus, to), from.node, to);
      }
    }
  }
  void bandwidth() {
    add_pairs(experiment::bandwidth, [this](const std::vector<cpu_id>& cpus, node_id to) {
      return stream_work{{{&named("load"), cpus, {to}, {}, bytes_for(cpus)}}};
    });
  }
  void latency() {
    add_pairs(experiment::latency, [this](const std::vector<cpu_id>& cpus, node_id to) {
      return chase_work{cpus.front(), to, chain_bytes(cpus.front())};
    });
  }
  void contention() {
    for (const node_id to : memories_) {
      add(experiment::contention, fmt::format("all -> node {}", to),
          stream_work{{{&named("load"), all_cpus(), {to}, {}, bytes_}}}, unknown_node, to);
    }
  }
  void every_kernel() {
    constexpr std::array<std::string_view, 4> stream = {"copy", "scale", "add", "triad"};
    std::vector<std::string_view> names = what_.kernels;
    if (names.empty()) {
      names.assign(stream.begin(), stream.end());
    }
    for (const std::string_view name : names) {
      const kernel& does = named(name);
      add(experiment::kernels, std::string(does.name), stream_work{local(nodes_, does)});
    }
  }
  void interleave() {
    const kernel& load = named("load");
    add(experiment::interleave, "local", stream_work{local(nodes_, load)});
    if (memories_.size() > 1) {
      add(experiment::interleave, "in turn",
          stream_work{{{&load, all_cpus(), memories_, {}, bytes_}}});
      if (bandwidths_will_be_known()) {
        add(experiment::interleave, "by weight",
            stream_work{{{&load, all_cpus(), memories_,
                          std::vector<std::uint32_t>(memories_.size(), 1), bytes_}}});
      }
    }
  }
  /// Without bandwidths all weights would be equal, the same as "in turn".
  [[nodiscard]] bool bandwidths_will_be_known() const {
    return std::ranges::count(what_.experiments, experiment::bandwidth) != 0 ||
           std::ranges::count(on_.machine().parameters, "bandwidth", &parameter::name) != 0;
  }
  void scaling() {
    const kernel& load = named("load");
    const node_cores& first = nodes_.front();
    const std::span<const cpu_id> cpus = first.cpus;
    for (const std::size_t threads : steps_to(first.cpus.size())) {
      const auto some = cpus.first(threads);
      add(experiment::scaling, fmt::format("{} of node {}", counted(threads, "thread"), first.node),
          stream_work{{{&load, {some.begin(), some.end()}, {near(first.node)}, {}, bytes_}}},
          first.node, near(first.node));
    }
    for (const std::size_t many : steps_to(nodes_.size())) {
      if (many > 1) {
        add(experiment::scaling, counted(many, "node"),
            stream_work{local(std::span(nodes_).first(many), load)});
      }
    }
  }
  void mixes() {
    constexpr std::array<std::string_view, 6> kernels = {"load", "schoenauer", "triad",
                                                         "copy", "update",     "store_nt"};
    const node_cores& first = nodes_.front();
    for (const std::string_view name : kernels) {
      const kernel& does = named(name);
      add(experiment::mixes, std::string(does.name),
          stream_work{{{&does, first.cpus, {near(first.node)}, {}, bytes_}}}, first.node,
          near(first.node));
    }
  }
  void loaded_latency() {
    const auto home =
        std::ranges::find_if(nodes_, [](const node_cores& each) { return each.cpus.size() > 1; });
    if (home == nodes_.end()) {
      return;
    }
    const node_cores& first = *home;
    const std::vector<cpu_id> others(first.cpus.begin() + 1, first.cpus.end());
    const node_id memory = near(first.node);
    for (const unsigned pauses : {0U, 10U, 30U, 100U, 300U, 1000U}) {
      add(experiment::loaded_latency, counted(pauses, "pause"),
          chase_work{first.cpus.front(), memory, chain_bytes(first.cpus.front()),
                     stream_group{&named("load"), others, {memory}, {}, bytes_}, pauses},
          first.node, memory);
    }
  }
  void transfer() {
    // From the first core to another of its node, and to the first core of every other node.
    const node_cores& home = nodes_.front();
    const auto pair = [&](cpu_id to) {
      add(experiment::transfer, fmt::format("cpu {} -> cpu {}", home.cpus.front(), to),
          transfer_work{home.cpus.front(), to, near(home.node)});
    };
    if (home.cpus.size() > 1) {
      pair(home.cpus[1]);
    }
    for (const node_cores& each : std::span(nodes_).subspan(1)) {
      pair(each.cpus.front());
    }
  }
  void touch() {
    const node_cores& first = nodes_.front();
    const node_id memory = near(first.node);
    std::vector<std::vector<cpu_id>> teams = {{first.cpus.front()}};
    if (first.cpus.size() > 1) {
      teams.push_back(first.cpus);
    }
    for (const auto& [pages, name] : two_page_sizes) {
      for (const std::vector<cpu_id>& cpus : teams) {
        add(experiment::touch, fmt::format("{}, {}", name, counted(cpus.size(), "thread")),
            touch_work{cpus, memory, std::min(bytes_, 512 * mebibyte)}, first.node, memory, pages);
      }
    }
  }
  void migration() {
    if (memories_.size() < 2) {
      return;
    }
    const node_cores& first = nodes_.front();
    const node_id from = near(first.node);
    for (const node_id to : memories_) {
      for (const auto& [pages, name] : two_page_sizes) {
        if (to != from) {
          add(experiment::migration, fmt::format("{}, {}", way(from, to), name),
              migration_work{first.cpus.front(), from, to, std::min(bytes_, 128 * mebibyte)}, from,
              to, pages);
        }
      }
    }
  }

  static constexpr std::array<std::pair<page_size, std::string_view>, 2> two_page_sizes = {
      {{page_size::base, "base pages"}, {page_size::transparent_huge, "transparent huge pages"}}};

  const topology& on_;
  const scope& what_;
  std::vector<node_cores> nodes_;
  std::vector<node_id> memories_;
  std::uint64_t bytes_;
  std::vector<point> points_;
};

const std::array<planner::planning, experiments> planner::methods = {
    &planner::bandwidth,  &planner::latency, &planner::contention, &planner::every_kernel,
    &planner::interleave, &planner::scaling, &planner::mixes,      &planner::loaded_latency,
    &planner::transfer,   &planner::touch,   &planner::migration};

} // namespace

cpu_set set_of(std::span<const cpu_id> cpus) {
  cpu_set all;
  for (const cpu_id cpu : cpus) {
    all.insert(cpu);
  }
  return all;
}

std::string_view unit_of(const point& what) noexcept {
  return more_is_better(what) ? "GB/s" : "ns";
}

bool more_is_better(const point& what) noexcept {
  return !std::holds_alternative<chase_work>(what.work) &&
         !std::holds_alternative<transfer_work>(what.work);
}

std::vector<point> plan_points(const topology& on, const scope& what) {
  return planner(on, what).plan();
}

} // namespace nodewise::measure
