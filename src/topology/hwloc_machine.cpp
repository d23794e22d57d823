// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "topology/hwloc_machine.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "topology/machine_checks.hpp"

namespace nodewise::topology_detail {

namespace {

template <class Id>
id_set<Id> to_set(hwloc_const_bitmap_t bitmap) {
  id_set<Id> set;
  // A bitmap may be infinite ("all there may ever be"); no number above max_id is in use.
  for (int id = bitmap == nullptr ? -1 : hwloc_bitmap_first(bitmap); id >= 0 && id <= max_id;
       id = hwloc_bitmap_next(bitmap, id)) {
    set.insert(Id{id});
  }
  return set;
}

int os_number(hwloc_obj_t object) noexcept {
  return object->os_index <= static_cast<unsigned>(max_id) ? static_cast<int>(object->os_index)
                                                           : -1;
}

/// The kind of memory that hwloc reports. It calls a node DRAM only if it can compare it with
/// another kind; on an ordinary machine it reports none, and the kind stays unknown.
memory_kind kind_of(hwloc_obj_t node) {
  constexpr std::array<std::pair<std::string_view, memory_kind>, 9> names{{
      {"DRAM", memory_kind::dram},
      {"HBM", memory_kind::hbm},
      {"MCDRAM", memory_kind::hbm},
      {"GPUMemory", memory_kind::gpu},
      {"CXL", memory_kind::cxl},
      {"CXL-DRAM", memory_kind::cxl},
      {"CXL-NVM", memory_kind::cxl},
      {"NVM", memory_kind::other},
      {"SPM", memory_kind::other}, // "specific purpose", which the firmware does not name
  }};
  const std::string subtype = node->subtype != nullptr ? node->subtype : info_of(node, "DAXType");
  const auto* const found =
      std::ranges::find(names, subtype, &std::pair<std::string_view, memory_kind>::first);
  return found == names.end() ? memory_kind::unknown : found->second;
}

/// hwloc gives a node without processors those of the nodes near to it. This undoes it. Such a set
/// belongs to one or several other nodes, so smaller sets go first. Of equal sets the node with the
/// lower number goes first, because Linux numbers nodes with processors first.
void assign_cpus(std::vector<memory_node>& nodes) {
  std::vector<memory_node*> order;
  order.reserve(nodes.size());
  for (memory_node& node : nodes) {
    order.push_back(&node);
  }
  std::ranges::sort(order, {},
                    [](const memory_node* node) { return std::pair(node->cpus.size(), node->id); });
  cpu_set claimed;
  for (memory_node* const node : order) {
    if (node->cpus.intersects(claimed)) {
      node->cpus = {};
    }
    claimed = std::move(claimed) | node->cpus;
  }
}

void add_nodes(hwloc_topology_t topology, machine& all) {
  for (hwloc_obj_t node : objects(topology, HWLOC_OBJ_NUMANODE)) {
    if (const int number = os_number(node); number >= 0) {
      all.nodes.push_back({node_id{number}, to_cpu_set(node->cpuset),
                           node->attr->numanode.local_memory, kind_of(node),
                           static_cast<int>(node->logical_index)});
    }
  }
  std::ranges::sort(all.nodes, {}, &memory_node::id);
  const auto twice = std::ranges::unique(all.nodes, {}, &memory_node::id);
  if (!twice.empty()) {
    all.nodes.erase(twice.begin(), twice.end());
    all.notes.emplace_back("some node numbers occur twice; only the first of each is used");
  }
  assign_cpus(all.nodes);
}

void add_packages_and_cores(hwloc_topology_t topology, machine& all) {
  for (hwloc_obj_t object : objects(topology, HWLOC_OBJ_PACKAGE)) {
    if (cpu_set cpus = to_cpu_set(object->cpuset); !cpus.empty()) {
      all.packages.push_back({os_number(object), std::move(cpus)});
    }
  }
  cpu_set rest = to_cpu_set(hwloc_topology_get_topology_cpuset(topology));
  for (hwloc_obj_t object : objects(topology, HWLOC_OBJ_CORE)) {
    if (cpu_set cpus = to_cpu_set(object->cpuset) & rest; !cpus.empty()) {
      rest = std::move(rest) - cpus;
      all.cores.push_back({std::move(cpus)});
    }
  }
  for (const cpu_id cpu : rest) { // their core is not known
    all.cores.push_back({{cpu}});
  }
  const auto first = [](const auto& each) { return each.cpus.first(); };
  std::ranges::sort(all.packages, {}, first);
  std::ranges::sort(all.cores, {}, first);
}

cache_kind kind_of(hwloc_obj_cache_type_t type) noexcept {
  return type == HWLOC_OBJ_CACHE_DATA          ? cache_kind::data
         : type == HWLOC_OBJ_CACHE_INSTRUCTION ? cache_kind::instruction
                                               : cache_kind::unified;
}

void add_caches(hwloc_topology_t topology, machine& all) {
  for (const hwloc_obj_type_t type :
       {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L2ICACHE,
        HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L3ICACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE}) {
    for (hwloc_obj_t object : objects(topology, type)) {
      const auto& attributes = object->attr->cache;
      if (cpu_set cpus = to_cpu_set(object->cpuset); !cpus.empty()) {
        all.caches.push_back({static_cast<int>(attributes.depth), kind_of(attributes.type),
                              attributes.size, attributes.linesize,
                              static_cast<unsigned>(std::max(attributes.associativity, 0)),
                              std::move(cpus)});
      }
    }
  }
  for (hwloc_obj_t object : objects(topology, HWLOC_OBJ_MEMCACHE)) {
    all.notes.push_back(fmt::format("node {} is behind a memory-side cache of {} MiB",
                                    to_node_set(object->nodeset).to_string(),
                                    object->attr->cache.size >> 20));
  }
}

} // namespace

cpu_set to_cpu_set(hwloc_const_bitmap_t bitmap) {
  return to_set<cpu_id>(bitmap);
}
node_set to_node_set(hwloc_const_bitmap_t bitmap) {
  return to_set<node_id>(bitmap);
}

std::string info_of(hwloc_obj_t object, const char* name) {
  const char* const value = hwloc_obj_get_info_by_name(object, name);
  return value == nullptr ? std::string{} : std::string(value);
}

std::vector<hwloc_obj_t> objects(hwloc_topology_t topology, hwloc_obj_type_t type) {
  std::vector<hwloc_obj_t> found;
  hwloc_obj_t next = nullptr;
  while ((next = hwloc_get_next_obj_by_type(topology, type, next)) != nullptr) {
    found.push_back(next);
  }
  return found;
}

void add_nodes_left_out(machine& all, const machine& kernel) {
  for (const memory_node& node : kernel.nodes) {
    if (all.find_node(node.id) == nullptr) {
      all.nodes.push_back(node);
      all.nodes.back().kind = node.cpus.empty() ? memory_kind::gpu : node.kind;
    }
  }
  std::ranges::sort(all.nodes, {}, &memory_node::id);
  // The tables go by position: the kernel's table fits only if it lists the same nodes.
  all.distances.clear();
  if (all.node_ids() == kernel.node_ids()) {
    all.distances = kernel.distances;
  }
}

machine to_machine(hwloc_topology_t topology, const std::string& attribute_source) {
  machine all;
  add_nodes(topology, all);
  add_packages_and_cores(topology, all);
  add_caches(topology, all);
  add_distances(topology, all);
  add_memory_attributes(topology, attribute_source, all);
  add_devices(topology, all);
  sort_caches(all.caches);
  drop_senseless_distances(all);
  return all;
}

} // namespace nodewise::topology_detail
