// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/team_layout.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "bind/team_sizes.hpp"

namespace nodewise::inline v0 {

namespace {

/// In the order of `bind_policy`.
constexpr std::array<std::string_view, 3> policy_names = {"none", "close", "spread"};

/// A node with the allowed hardware threads of each of its cores.
struct node_cores {
  node_id node = unknown_node;
  std::vector<cpu_set> cores;
  std::size_t cpus = 0;
};

std::vector<node_cores> nodes_of(const topology& where) {
  std::vector<node_cores> nodes;
  for (cpu_set& core : where.places(place_kind::cores)) {
    const node_id node = where.node_of(core.first());
    if (node == unknown_node) {
      continue;
    }
    if (nodes.empty() || nodes.back().node != node) {
      nodes.push_back({node, {}, 0});
    }
    nodes.back().cpus += core.size();
    nodes.back().cores.push_back(std::move(core));
  }
  return nodes;
}

/// A number for each node: of its threads, or of its cores or processors.
using shares = std::vector<std::size_t>;

std::size_t total(const shares& of) {
  return std::accumulate(of.begin(), of.end(), std::size_t{0});
}

shares cores_of(const std::vector<node_cores>& nodes) {
  shares cores;
  std::ranges::transform(nodes, std::back_inserter(cores),
                         [](const node_cores& node) { return node.cores.size(); });
  return cores;
}

shares cpus_of(const std::vector<node_cores>& nodes) {
  shares cpus;
  std::ranges::transform(nodes, std::back_inserter(cpus), &node_cores::cpus);
  return cpus;
}

void fill_in_order(shares& given, const shares& room, std::size_t threads) {
  for (std::size_t n = 0; n < room.size(); ++n) {
    const std::size_t more = std::min(threads, room[n] - given[n]);
    given[n] += more;
    threads -= more;
  }
}

/// Levels the shares as far as each node's room allows; the first nodes get the remainder.
void fill_evenly(shares& given, const shares& room, std::size_t threads) {
  while (threads > 0) {
    for (std::size_t n = 0; n < room.size() && threads > 0; ++n) {
      if (given[n] < room[n]) {
        ++given[n];
        --threads;
      }
    }
  }
}

/// Uses one hardware thread of each core first, and the others only when all cores are used.
shares deal_out(const std::vector<node_cores>& nodes, bind_policy policy, std::size_t threads) {
  shares given(nodes.size());
  // With fewer threads than nodes: divides the nodes into `threads` equal parts and takes the first
  // node of each, as OpenMP's spread picks the first place of each partition.
  if (policy == bind_policy::spread && threads < nodes.size()) {
    for (std::size_t thread = 0; thread < threads; ++thread) {
      given[thread * nodes.size() / threads] = 1;
    }
    return given;
  }
  const auto fill = policy == bind_policy::spread ? fill_evenly : fill_in_order;
  const shares cores = cores_of(nodes);
  const std::size_t on_own_core = std::min(threads, total(cores));
  fill(given, cores, on_own_core);
  fill(given, cpus_of(nodes), threads - on_own_core);
  return given;
}

/// How many hardware threads of each core a node uses for `threads` threads.
std::vector<std::size_t> used_of_each_core(const node_cores& node, bind_policy policy,
                                           std::size_t threads) {
  std::vector<std::size_t> used(node.cores.size());
  for (std::size_t level = 0; threads > 0; ++level) {
    std::vector<std::size_t> open; // cores with a hardware thread left
    for (std::size_t c = 0; c < node.cores.size(); ++c) {
      if (node.cores[c].size() > level) {
        open.push_back(c);
      }
    }
    const std::size_t now = std::min(threads, open.size());
    for (std::size_t k = 0; k < now; ++k) {
      ++used[open[policy == bind_policy::spread ? k * open.size() / now : k]];
    }
    threads -= now;
  }
  return used;
}

/// The processors in the order of the threads: ascending by node, then by core.
std::vector<thread_place> lay_out(const std::vector<node_cores>& nodes, bind_policy policy,
                                  std::size_t processors) {
  std::vector<thread_place> places;
  const shares given = deal_out(nodes, policy, processors);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto used = used_of_each_core(nodes[n], policy, given[n]);
    for (std::size_t c = 0; c < used.size(); ++c) {
      auto cpu = nodes[n].cores[c].begin();
      for (std::size_t k = 0; k < used[c]; ++k, ++cpu) {
        places.push_back({{*cpu}, *cpu, nodes[n].node});
      }
    }
  }
  return places;
}

/// OpenMP's form of a set: "0,4-7" becomes "0,4:4". OpenMP rejects a range with a dash.
std::string omp_list(const cpu_set& cpus) {
  std::string text;
  for (auto at = cpus.begin(); at != cpus.end();) {
    const int first = to_int(*at);
    int length = 0;
    while (at != cpus.end() && to_int(*at) == first + length) {
      ++length;
      ++at;
    }
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    text += length > 1 ? fmt::format(":{}", length) : "";
  }
  return text;
}

/// The node if all of the processors belong to it, else `unknown_node`.
node_id node_of_all(const cpu_set& cpus, node_id node, const topology& where) {
  const memory_node* const found = where.machine().find_node(node);
  return found != nullptr && found->cpus.includes(cpus) ? node : unknown_node;
}

/// Lets each thread run on the whole core, node or package of its processor.
void widen(std::vector<thread_place>& threads, const topology& where, place_kind kind) {
  if (kind == place_kind::threads) {
    return;
  }
  const std::vector<cpu_set> places = where.places(kind);
  std::map<cpu_id, const cpu_set*> place_of;
  for (const cpu_set& place : places) {
    for (const cpu_id cpu : place) {
      place_of[cpu] = &place;
    }
  }
  for (thread_place& thread : threads) {
    const auto found = place_of.find(thread.place.first());
    if (found == place_of.end() || found->second->size() == 1) {
      continue;
    }
    thread.place = *found->second;
    thread.cpu.reset();
    thread.node = node_of_all(thread.place, thread.node, where);
  }
}

/// The same machine with one allowed processor per core.
topology first_of_each_core(const topology& where) {
  cpu_set first;
  for (const cpu_set& core : where.places(place_kind::cores)) {
    first.insert(core.first());
  }
  return {where.machine(), std::move(first), where.allowed_nodes()};
}

/// The place of a thread that may run anywhere. It has a node only if all processors belong to one.
thread_place anywhere(const topology& where, const std::vector<node_cores>& nodes) {
  thread_place place{where.allowed_cpus(), std::nullopt, unknown_node};
  if (place.place.size() == 1) {
    place.cpu = place.place.first();
  }
  if (nodes.size() == 1 && nodes.front().cpus == place.place.size()) {
    place.node = nodes.front().node;
  }
  return place;
}

} // namespace

std::string_view to_string(bind_policy policy) noexcept {
  const auto at = static_cast<std::size_t>(policy);
  return at < policy_names.size() ? policy_names[at] : std::string_view{};
}

std::optional<bind_policy> parse_bind_policy(std::string_view text) noexcept {
  const auto at = std::ranges::find(policy_names, text) - policy_names.begin();
  return at < std::ssize(policy_names) ? std::optional(static_cast<bind_policy>(at)) : std::nullopt;
}

team_layout::team_layout(const topology& where, bind_policy policy, std::size_t threads)
    : team_layout(where, layout_options{.policy = policy, .threads = threads}) {}

team_layout::team_layout(const topology& everything, const layout_options& options)
    : policy_(options.policy) {
  const topology where = options.smt == smt_use::off ? first_of_each_core(everything) : everything;
  const std::vector<node_cores> nodes = nodes_of(where);
  const std::size_t cpus = total(cpus_of(nodes));
  if (cpus == 0) {
    throw error(error_kind::usage, "cannot lay out threads",
                where.allowed_cpus().empty() ? "no processor is allowed"
                                             : "no allowed processor belongs to a node",
                "allow processors of a node; `nodewise topo` shows them");
  }
  const std::size_t standard = options.smt == smt_use::on ? cpus : total(cores_of(nodes));
  const std::size_t threads = options.threads == 0 ? standard : options.threads;
  threads_per_cpu_ = (threads + cpus - 1) / cpus;
  if (policy_ == bind_policy::none) {
    threads_.assign(threads, anywhere(where, nodes));
    return;
  }
  std::vector<thread_place> places = lay_out(nodes, policy_, std::min(threads, cpus));
  widen(places, where, options.places);
  for (std::size_t thread = 0; thread < threads; ++thread) {
    threads_.push_back(places[thread * places.size() / threads]);
  }
}

team_layout team_layout::pinned(const topology& where, std::span<const cpu_id> cpus,
                                std::size_t threads, place_kind kind) {
  if (cpus.empty()) {
    throw error(error_kind::usage, "cannot pin threads", "the list of processors is empty",
                "list at least one processor");
  }
  std::vector<thread_place> places;
  for (const cpu_id cpu : cpus) {
    places.push_back({{cpu}, cpu, where.node_of(cpu)});
  }
  widen(places, where, kind);
  team_layout layout;
  std::map<cpu_id, std::size_t> threads_on;
  for (std::size_t thread = 0; thread < (threads == 0 ? cpus.size() : threads); ++thread) {
    layout.threads_.push_back(places[thread % places.size()]);
    std::size_t& here = threads_on[cpus[thread % cpus.size()]];
    layout.threads_per_cpu_ = std::max(layout.threads_per_cpu_, ++here);
  }
  return layout;
}

team_layout team_layout::bound(const topology& where, std::span<const cpu_set> places) {
  if (places.empty() || std::ranges::any_of(places, &cpu_set::empty)) {
    throw error(error_kind::usage, "cannot describe bound threads", "a thread has no processors",
                "pass the processors that each thread may run on");
  }
  team_layout layout;
  std::map<cpu_id, std::size_t> threads_on;
  for (const cpu_set& place : places) {
    thread_place thread{place, std::nullopt,
                        node_of_all(place, where.node_of(place.first()), where)};
    if (place.size() == 1) {
      thread.cpu = place.first();
      std::size_t& here = threads_on[place.first()];
      layout.threads_per_cpu_ = std::max(layout.threads_per_cpu_, ++here);
    }
    layout.threads_.push_back(std::move(thread));
  }
  return layout;
}

std::vector<node_id> team_layout::owners() const {
  std::vector<node_id> nodes;
  for (const thread_place& thread : threads_) {
    if (thread.node == unknown_node) {
      throw error(error_kind::usage, "cannot list the node of each thread",
                  "a thread may run on several nodes",
                  "bind the threads close or spread, each within one node");
    }
    nodes.push_back(thread.node);
  }
  return nodes;
}

cpu_set team_layout::cpus() const {
  cpu_set all;
  for (const thread_place& thread : threads_) {
    all = std::move(all) | thread.place;
  }
  return all;
}

std::string team_layout::omp_places() const {
  return policy_ == bind_policy::none ? "" : joined(threads_, ",", [](const thread_place& thread) {
    return fmt::format("{{{}}}", omp_list(thread.place));
  });
}

std::string team_layout::omp_proc_bind() const {
  return policy_ == bind_policy::none ? "false" : std::string(to_string(policy_));
}

std::string team_layout::omp_num_threads() const {
  return fmt::format("{}", threads_.size());
}

} // namespace nodewise::inline v0

namespace nodewise::bind {

std::vector<std::size_t> parse_team_sizes(std::string_view text) {
  std::vector<std::size_t> sizes;
  for (std::string_view part : split(text, ',')) {
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    const std::size_t size = take_number<std::size_t>(part).value_or(0);
    if (size == 0) {
      break;
    }
    sizes.push_back(size);
    if (part.find_first_not_of(' ') != std::string_view::npos) {
      break;
    }
  }
  return sizes;
}

std::size_t threads_of_teams(const std::vector<std::size_t>& sizes) {
  std::size_t threads = sizes.empty() ? 0 : 1;
  for (const std::size_t size : sizes) {
    threads = size == 0 || threads <= SIZE_MAX / size ? threads * size : SIZE_MAX;
  }
  return threads;
}

std::string nested_proc_bind(const std::vector<std::size_t>& sizes) {
  std::string text;
  for (std::size_t level = 1; level < sizes.size(); ++level) {
    text += "spread,";
  }
  return text + "close";
}

} // namespace nodewise::bind
