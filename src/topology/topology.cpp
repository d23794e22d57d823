// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "topology/part_sets.hpp"

namespace nodewise::inline v0 {

const memory_node* machine::find_node(node_id id) const noexcept {
  const auto it = std::ranges::find(nodes, id, &memory_node::id);
  return it == nodes.end() ? nullptr : &*it;
}

cpu_set machine::cpus() const {
  return cpus_of_all(nodes) | cpus_of_all(cores);
}

node_set machine::node_ids() const {
  return nodes_if(*this, [](const memory_node&) { return true; });
}

std::optional<int> machine::distance(node_id from, node_id to) const noexcept {
  const memory_node* const row = find_node(from);
  const memory_node* const column = find_node(to);
  if (row == nullptr || column == nullptr || distances.empty()) {
    return std::nullopt;
  }
  return distances[static_cast<std::size_t>(row - nodes.data())]
                  [static_cast<std::size_t>(column - nodes.data())];
}

topology::topology(nodewise::machine all, cpu_set allowed_cpus, node_set allowed_nodes)
    : machine_(std::move(all)), allowed_cpus_(std::move(allowed_cpus) & machine_.cpus()),
      allowed_nodes_(std::move(allowed_nodes) & machine_.node_ids()) {}

topology::topology(nodewise::machine all)
    : machine_(std::move(all)), allowed_cpus_(machine_.cpus()),
      allowed_nodes_(machine_.node_ids()) {}

std::vector<domain> topology::domains() const {
  std::vector<domain> all;
  for (const memory_node& node : machine_.nodes) {
    if (cpu_set cpus = node.cpus & allowed_cpus_; !cpus.empty()) {
      all.push_back({node.id, std::move(cpus)});
    }
  }
  return all;
}

node_set topology::memory_nodes() const {
  return allowed_nodes_ & nodes_if(machine_, &memory_node::memory_bytes);
}

node_id topology::node_of(cpu_id cpu) const noexcept {
  return node_of_cpu(machine_, cpu);
}

namespace {

/// The processors of each part that are in `wanted`, with no processor in two places. Removes them
/// from `wanted`.
template <class Part>
std::vector<cpu_set> take_places(const std::vector<Part>& parts, cpu_set& wanted) {
  std::vector<cpu_set> places;
  for (const Part& each : parts) {
    if (cpu_set place = each.cpus & wanted; !place.empty()) {
      wanted = std::move(wanted) - place;
      places.push_back(std::move(place));
    }
  }
  return places;
}

void append_each(std::vector<cpu_set>& places, const cpu_set& cpus) {
  for (const cpu_id cpu : cpus) {
    places.push_back({cpu});
  }
}

} // namespace

std::vector<cpu_set> topology::places(place_kind kind) const {
  cpu_set rest = allowed_cpus_;
  std::vector<cpu_set> places;
  switch (kind) {
  case place_kind::threads:
    for (const cpu_set& core : this->places(place_kind::cores)) {
      append_each(places, core);
    }
    return places;
  case place_kind::cores:
    places = take_places(machine_.cores, rest);
    append_each(places, rest);
    break;
  case place_kind::nodes:
    places = take_places(machine_.nodes, rest);
    break;
  case place_kind::packages:
    places = take_places(machine_.packages, rest);
    break;
  }
  if (!rest.empty() && kind != place_kind::cores) {
    places.push_back(std::move(rest));
  }
  sort_by_node(places);
  return places;
}

void topology::sort_by_node(std::vector<cpu_set>& places) const {
  // `unknown_node` is the highest unsigned number: processors that no node claims come last.
  const auto key = [this](const cpu_set& place) {
    return std::pair(static_cast<unsigned>(to_int(node_of(place.first()))), to_int(place.first()));
  };
  std::ranges::sort(places, {}, key);
}

} // namespace nodewise::inline v0
