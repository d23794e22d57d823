// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/points.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/core.h>

#include <nodewise/team_layout.hpp>

#include "base/text.hpp"

namespace nodewise::measure {

namespace {

struct node_cores {
  node_id node = unknown_node;
  std::vector<cpu_id> cpus; ///< one for each core
  /// The memory nearest to the processors: that of their node, if it has one.
  node_id memory = unknown_node;
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
  for (std::size_t power = 1; power < most; power *= 2) {
    steps.push_back(power);
    if (power >= 2 && power + power / 2 < most) {
      steps.push_back(power + power / 2);
    }
  }
  steps.push_back(most);
  return steps;
}

const kernel& named(std::string_view name) {
  const kernel* const found = find_kernel(name);
  if (found == nullptr) {
    throw error(error_kind::usage, fmt::format("kernel '{}'", name), "there is no such kernel",
                "`nodewise measure --help` lists them");
  }
  return *found;
}

/// Collects the points of a machine, one experiment after the other.
class planner {
 public:
  planner(const topology& on, const scope& what)
      : on_(on), what_(what), nodes_(cores_by_node(on)),
        bytes_(what.bytes != 0 ? what.bytes
                               : std::min(enough_bytes(on), most_bytes(on, what.memory))) {
    std::ranges::copy(on.memory_nodes(), std::back_inserter(memories_));
    if (nodes_.empty() || memories_.empty()) {
      throw error(error_kind::usage, "measuring this machine",
                  nodes_.empty() ? "no allowed processor belongs to a node"
                                 : "no allowed node has memory",
                  "`nodewise topo` shows what this process may use");
    }
    for (node_cores& each : nodes_) {
      each.memory = *std::ranges::min_element(memories_, {}, [&](node_id to) {
        return to == each.node ? 0 : on.distance(each.node, to).value_or(1 << 20);
      });
    }
  }

  std::vector<point> plan();

  void bandwidth() {
    add_pairs([this](const node_cores& from, node_id to) {
      return stream_work{{{&load_, from.cpus, {to}, {}, bytes_for(from.cpus)}}};
    });
  }
  void latency() {
    add_pairs([this](const node_cores& from, node_id to) {
      return chase_work{from.cpus.front(), to, chain_bytes(from.cpus.front())};
    });
  }
  void contention() {
    for (const node_id to : memories_) {
      add(fmt::format("all -> node {}", to), stream_work{{{&load_, all_cpus(), {to}, {}, bytes_}}},
          unknown_node, to);
    }
  }
  void kernels() {
    std::vector<std::string_view> names = what_.kernels;
    if (names.empty()) {
      names = {"copy", "scale", "add", "triad"}; // STREAM's
    }
    for (const std::string_view name : names) {
      const kernel& does = named(name);
      add(std::string(does.name), local(nodes_, does));
    }
  }
  void interleave() {
    add("local", local(nodes_, load_));
    if (memories_.size() > 1) {
      stream_group all{&load_, all_cpus(), memories_, {}, bytes_};
      add("in turn", stream_work{{all}});
      if (bandwidths_will_be_known()) {
        all.weights.assign(memories_.size(), 1);
        add("by weight", stream_work{{std::move(all)}});
      }
    }
  }
  void scaling() {
    const auto& cpus = first().cpus;
    for (const std::size_t threads : steps_to(cpus.size())) {
      add_of_first(
          fmt::format("{} of node {}", counted(threads, "thread"), first().node),
          stream_work{{{&load_,
                        {cpus.begin(), cpus.begin() + static_cast<std::ptrdiff_t>(threads)},
                        {first().memory},
                        {},
                        bytes_}}});
    }
    for (const std::size_t many : steps_to(nodes_.size())) {
      if (many > 1) {
        add(counted(many, "node"), local(std::span(nodes_).first(many), load_));
      }
    }
  }
  void mixes() {
    for (const char* const name : {"load", "schoenauer", "triad", "copy", "update", "store_nt"}) {
      add_of_first(name, stream_work{{{&named(name), first().cpus, {first().memory}, {}, bytes_}}});
    }
  }
  void loaded_latency() {
    const auto home =
        std::ranges::find_if(nodes_, [](const node_cores& each) { return each.cpus.size() > 1; });
    if (home == nodes_.end()) {
      return;
    }
    const cpu_id cpu = home->cpus.front();
    const std::vector<cpu_id> others(home->cpus.begin() + 1, home->cpus.end());
    for (const unsigned pauses : {0U, 10U, 30U, 100U, 300U, 1000U}) {
      add(counted(pauses, "pause"),
          chase_work{cpu, home->memory, chain_bytes(cpu),
                     stream_group{&load_, others, {home->memory}, {}, bytes_}, pauses},
          home->node, home->memory);
    }
  }
  void transfer() {
    // From the first core to another of its node, and to the first core of every other node.
    const cpu_id from = first().cpus.front();
    const auto pair = [&](cpu_id to) {
      add(fmt::format("cpu {} -> cpu {}", from, to), transfer_work{from, to, first().memory});
    };
    if (first().cpus.size() > 1) {
      pair(first().cpus[1]);
    }
    for (const node_cores& each : std::span(nodes_).subspan(1)) {
      pair(each.cpus.front());
    }
  }
  void touch() {
    std::vector<std::vector<cpu_id>> teams = {{first().cpus.front()}};
    if (first().cpus.size() > 1) {
      teams.push_back(first().cpus);
    }
    for (const auto& [pages, name] : two_page_sizes) {
      for (const std::vector<cpu_id>& cpus : teams) {
        add_of_first(fmt::format("{}, {}", name, counted(cpus.size(), "thread")),
                     touch_work{cpus, first().memory, std::min(bytes_, 512 * mebibyte)}, pages);
      }
    }
  }
  void migration() {
    const node_id from = first().memory;
    for (const node_id to : memories_) {
      for (const auto& [pages, name] : two_page_sizes) {
        if (to != from) {
          add(fmt::format("{}, {}", way(from, to), name),
              migration_work{first().cpus.front(), from, to, std::min(bytes_, 128 * mebibyte)},
              from, to, pages);
        }
      }
    }
  }

 private:
  void add(std::string label, work does, node_id from = unknown_node, node_id to = unknown_node,
           std::optional<page_size> pages = {}) {
    points_.push_back(
        {of_, std::move(label), from, to, pages.value_or(what_.pages), std::move(does)});
  }
  /// Work of the first node's processors in their nearest memory.
  void add_of_first(std::string label, work does, std::optional<page_size> pages = {}) {
    add(std::move(label), std::move(does), first().node, first().memory, pages);
  }
  /// One point for each node's processors and each memory.
  template <class Make>
  void add_pairs(const Make& make) {
    for (const node_cores& from : nodes_) {
      for (const node_id to : memories_) {
        add(way(from.node, to), make(from, to), from.node, to);
      }
    }
  }
  [[nodiscard]] const node_cores& first() const { return nodes_.front(); }
  [[nodiscard]] std::vector<cpu_id> all_cpus() const {
    std::vector<cpu_id> all;
    for (const node_cores& each : nodes_) {
      all.insert(all.end(), each.cpus.begin(), each.cpus.end());
    }
    return all;
  }
  /// The cores of these nodes, each on its nearest memory; all share the usual buffer size.
  [[nodiscard]] stream_work local(std::span<const node_cores> nodes, const kernel& does) const {
    stream_work all;
    for (const node_cores& each : nodes) {
      all.groups.push_back({&does, each.cpus, {each.memory}, {}, bytes_ / nodes.size()});
    }
    return all;
  }
  /// The size of a chain that this core follows.
  [[nodiscard]] std::uint64_t chain_bytes(cpu_id cpu) const {
    return what_.bytes != 0 ? what_.bytes : std::min(enough_for_a_chain(on_, cpu), bytes_);
  }
  /// The size of arrays that only these cores sweep over.
  [[nodiscard]] std::uint64_t bytes_for(const std::vector<cpu_id>& cpus) const {
    return what_.bytes != 0 ? what_.bytes : std::min(enough_bytes(on_, set_of(cpus)), bytes_);
  }
  /// Without bandwidths all weights would be equal, the same as "in turn".
  [[nodiscard]] bool bandwidths_will_be_known() const {
    return std::ranges::count(what_.experiments, experiment::bandwidth) != 0 ||
           std::ranges::count(on_.machine().parameters, "bandwidth", &parameter::name) != 0;
  }
  static std::string way(node_id from, node_id to) {
    return fmt::format("node {} -> node {}", from, to);
  }

  static constexpr std::array<std::pair<page_size, std::string_view>, 2> two_page_sizes = {
      {{page_size::base, "base pages"}, {page_size::transparent_huge, "transparent huge pages"}}};

  const topology& on_;
  const scope& what_;
  const kernel& load_ = named("load");
  std::vector<node_cores> nodes_;
  std::vector<node_id> memories_;
  std::uint64_t bytes_;
  experiment of_{}; ///< of the points that are added
  std::vector<point> points_;
};

std::vector<point> planner::plan() {
#define NODEWISE_EXPERIMENT(id, ...) &planner::id,
  constexpr void (planner::* adders[])() = {NODEWISE_EXPERIMENTS(NODEWISE_EXPERIMENT)};
#undef NODEWISE_EXPERIMENT
  for (const experiment each : what_.experiments) {
    of_ = each;
    (this->*adders[static_cast<std::size_t>(each)])();
  }
  return std::move(points_);
}

} // namespace

std::optional<experiment> parse_experiment(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(all_experiments, name, &description::name);
  return found == std::end(all_experiments)
             ? std::nullopt
             : std::optional(static_cast<experiment>(found - all_experiments));
}

std::vector<experiment> full_set() {
#define NODEWISE_EXPERIMENT(id, ...) experiment::id,
  return {NODEWISE_EXPERIMENTS(NODEWISE_EXPERIMENT)};
#undef NODEWISE_EXPERIMENT
}

std::vector<experiment> quick_set() {
  std::vector<experiment> some = full_set();
  std::erase_if(some, [](experiment each) { return !about(each).is_quick; });
  return some;
}

cpu_set set_of(std::span<const cpu_id> cpus) {
  cpu_set all;
  for (const cpu_id cpu : cpus) {
    all.insert(cpu);
  }
  return all;
}

std::string_view unit_of(const point& what) noexcept {
  const bool is_time = std::holds_alternative<chase_work>(what.work) ||
                       std::holds_alternative<transfer_work>(what.work);
  return is_time ? "ns" : "GB/s";
}

std::vector<point> plan_points(const topology& on, const scope& what) {
  return planner(on, what).plan();
}

} // namespace nodewise::measure
