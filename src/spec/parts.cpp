// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "spec/parts.hpp"

#include <climits>

#include "spec/numactl_list.hpp"
#include "topology/part_sets.hpp"

namespace nodewise::spec {

namespace {

std::size_t index(cpu_id cpu) noexcept {
  return static_cast<std::size_t>(to_int(cpu));
}

/// Nodes in hwloc's order if the machine value has it, else by number.
std::vector<const memory_node*> by_logical_number(const machine& all) {
  std::vector<const memory_node*> nodes;
  nodes.reserve(all.nodes.size());
  for (const memory_node& node : all.nodes) {
    nodes.push_back(&node);
  }
  std::ranges::sort(nodes, {},
                    [](const memory_node* node) { return std::pair(node->logical, node->id); });
  return nodes;
}

} // namespace

parts::parts(const topology& where, const system_files& files, bool with_caches)
    : where_(where), caches_(where.machine().caches) {
  if (caches_.empty() && with_caches) {
    caches_ = files.caches_of(where.machine().cpus());
  }
  order_processors();
  order_nodes(files);
}

/// The sort key of a processor lists the first processors of the sets that contain it, from the
/// largest set down. Sets that contain two processors come first in both keys and are equal there;
/// the first sets that differ are disjoint, so their first processors differ too.
void parts::order_processors() {
  const machine& all = where_.machine();
  const cpu_set cpus = all.cpus();
  // hwloc groups nodes by distance: its node numbers give an order that processors do not show.
  std::vector<int> rank(static_cast<std::size_t>(cpus.highest() + 1), 0);
  int next = 0;
  const bool all_in_nodes = cpus_of_all(all.nodes).includes(cpus);
  for (const memory_node* const node : by_logical_number(all)) {
    if (node->logical >= 0 && all_in_nodes) {
      for (const cpu_id cpu : node->cpus) {
        rank[index(cpu)] = next++;
      }
    }
  }
  std::vector<std::pair<std::size_t, cpu_set>> sets;
  const auto add = [&](const auto& some) {
    for (const auto& each : some) {
      if (cpu_set set = each.cpus & cpus; !set.empty()) {
        sets.emplace_back(set.size(), std::move(set));
      }
    }
  };
  add(all.nodes);
  add(all.packages);
  add(caches_);
  add(all.cores);
  std::ranges::sort(sets, std::greater{}, &std::pair<std::size_t, cpu_set>::first);
  std::vector<std::vector<std::pair<int, cpu_id>>> keys(rank.size());
  for (const auto& [size, set] : sets) {
    std::pair first(INT_MAX, cpu_id{INT_MAX});
    for (const cpu_id cpu : set) {
      first = std::min(first, {rank[index(cpu)], cpu});
    }
    for (const cpu_id cpu : set) {
      keys[index(cpu)].push_back(first);
    }
  }
  for (const cpu_id cpu : cpus) {
    keys[index(cpu)].emplace_back(rank[index(cpu)], cpu);
    order_.push_back(cpu);
  }
  std::ranges::sort(order_, {}, [&](cpu_id cpu) -> const auto& { return keys[index(cpu)]; });
  position_.assign(rank.size(), INT_MAX);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    position_[index(order_[i])] = static_cast<int>(i);
  }
}

cpu_set parts::nearest_processors(const memory_node& node, const system_files& files) const {
  const machine& all = where_.machine();
  node_set near = files.initiators_of(node.id);
  for (const parameter& each : all.parameters) {
    if (each.to == node.id && each.from != node.id && each.from != unknown_node) {
      near.insert(each.from);
    }
  }
  if (near.empty()) {
    int shortest = INT_MAX;
    for (const memory_node& other : all.nodes) {
      const int distance = all.distance(node.id, other.id).value_or(INT_MAX);
      if (other.id != node.id && distance != INT_MAX && distance <= shortest) {
        if (distance < shortest) {
          near = {};
        }
        near.insert(other.id);
        shortest = distance;
      }
    }
  }
  const cpu_set cpus = cpus_of(near & all.node_ids(), where_);
  return cpus.empty() ? all.cpus() : cpus;
}

/// A node comes before the nodes whose processors it includes: it is higher up in hwloc's tree.
void parts::order_nodes(const system_files& files) {
  for (const memory_node* const node : by_logical_number(where_.machine())) {
    nodes_.push_back({node, node->cpus.empty() ? nearest_processors(*node, files) : node->cpus});
  }
  std::ranges::sort(nodes_, {}, [this](const node_part& one) {
    return std::tuple(one.is->logical, first_position(one.near), -static_cast<int>(one.near.size()),
                      one.is->id);
  });
}

/// The position of the first of these processors in hwloc's order; INT_MAX if the machine has none
/// of them.
int parts::first_position(const cpu_set& cpus) const {
  int first = INT_MAX;
  for (const cpu_id cpu : cpus) {
    first = index(cpu) < position_.size() ? std::min(first, position_[index(cpu)]) : first;
  }
  return first;
}

std::vector<cpu_set> parts::in_order(std::vector<cpu_set> sets) const {
  std::ranges::sort(
      sets, {}, [this](const cpu_set& set) { return std::pair(first_position(set), set.size()); });
  return sets;
}

std::vector<cpu_set> parts::processors() const {
  std::vector<cpu_set> sets;
  for (const cpu_id cpu : order_) {
    sets.push_back({cpu});
  }
  return sets;
}

std::vector<cpu_set> parts::cores() const {
  std::vector<cpu_set> sets = sets_of(where_.machine().cores);
  for (const cpu_id cpu : where_.machine().cpus() - cpus_of_all(where_.machine().cores)) {
    sets.push_back({cpu});
  }
  return in_order(std::move(sets));
}

std::vector<cpu_set> parts::packages() const {
  return in_order(sets_of(where_.machine().packages));
}

std::vector<cpu_set> parts::caches_of(int level, bool instruction) const {
  std::vector<cpu_set> sets;
  for (const cache& each : caches_) {
    if (each.level == level && (each.kind == cache_kind::instruction) == instruction) {
      sets.push_back(each.cpus);
    }
  }
  return in_order(std::move(sets));
}

int parts::last_cache_level() const noexcept {
  int last = 0;
  for (const cache& each : caches_) {
    last = each.kind == cache_kind::instruction ? last : std::max(last, each.level);
  }
  return last;
}

} // namespace nodewise::spec
