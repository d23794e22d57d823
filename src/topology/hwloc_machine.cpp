// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "topology/hwloc_machine.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "topology/part_sets.hpp"
#include "topology/pci_kind.hpp"

namespace nodewise::topology_detail {

namespace {

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
      all.nodes.push_back({node_id{number}, to_set<cpu_id>(node->cpuset),
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
    if (cpu_set cpus = to_set<cpu_id>(object->cpuset); !cpus.empty()) {
      all.packages.push_back({os_number(object), std::move(cpus)});
    }
  }
  cpu_set rest = to_set<cpu_id>(hwloc_topology_get_topology_cpuset(topology));
  for (hwloc_obj_t object : objects(topology, HWLOC_OBJ_CORE)) {
    if (cpu_set cpus = to_set<cpu_id>(object->cpuset) & rest; !cpus.empty()) {
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
      if (cpu_set cpus = to_set<cpu_id>(object->cpuset); !cpus.empty()) {
        all.caches.push_back({static_cast<int>(attributes.depth), kind_of(attributes.type),
                              attributes.size, attributes.linesize,
                              static_cast<unsigned>(std::max(attributes.associativity, 0)),
                              std::move(cpus)});
      }
    }
  }
  for (hwloc_obj_t object : objects(topology, HWLOC_OBJ_MEMCACHE)) {
    all.notes.push_back(fmt::format("node {} is behind a memory-side cache of {} MiB",
                                    to_set<node_id>(object->nodeset).to_string(),
                                    object->attr->cache.size >> 20));
  }
}

const char* kind_of(hwloc_obj_osdev_type_t type) noexcept {
  switch (type) {
  case HWLOC_OBJ_OSDEV_BLOCK:
    return "storage";
  case HWLOC_OBJ_OSDEV_GPU:
  case HWLOC_OBJ_OSDEV_COPROC:
    return "gpu";
  case HWLOC_OBJ_OSDEV_NETWORK:
    return "network";
  case HWLOC_OBJ_OSDEV_OPENFABRICS:
    return "fabric";
  case HWLOC_OBJ_OSDEV_DMA:
    break;
  }
  return "other";
}

using pci_attributes = hwloc_obj_attr_u::hwloc_pcidev_attr_s;

/// The PCI device that a device is or belongs to; nullptr if none.
const pci_attributes* pci_of(hwloc_obj_t object) {
  while (object != nullptr && object->type != HWLOC_OBJ_PCI_DEVICE) {
    object = object->parent;
  }
  return object == nullptr ? nullptr : &object->attr->pcidev;
}

std::string pci_address(const pci_attributes* pci) {
  return pci == nullptr
             ? std::string()
             : fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci->domain, pci->bus, pci->dev, pci->func);
}

pci_numbers numbers_of(const pci_attributes& pci) {
  return {pci.class_id, pci.vendor_id, pci.device_id};
}

/// The nodes near a device. A device at the root of a machine of several nodes has none: the
/// firmware does not report its place.
node_set nodes_near(hwloc_topology_t topology, hwloc_obj_t device, const machine& all) {
  hwloc_obj_t const place = hwloc_get_non_io_ancestor_obj(topology, device);
  if (place == nullptr || (place == hwloc_get_root_obj(topology) && all.nodes.size() > 1)) {
    return {};
  }
  return to_set<node_id>(place->nodeset) & all.node_ids();
}

void add_devices(hwloc_topology_t topology, machine& all) {
  for (hwloc_obj_t object : objects(topology, HWLOC_OBJ_OS_DEVICE)) {
    const pci_attributes* const pci = pci_of(object);
    const bool is_picture = pci != nullptr && only_shows_pictures(numbers_of(*pci));
    all.devices.push_back({object->name != nullptr ? object->name : "?",
                           is_picture ? "other" : kind_of(object->attr->osdev.type),
                           pci_address(pci), nodes_near(topology, object, all)});
  }
  // A device without a driver has only its address as a name.
  for (hwloc_obj_t object : objects(topology, HWLOC_OBJ_PCI_DEVICE)) {
    const char* const kind = kind_of_pci(numbers_of(object->attr->pcidev));
    if (object->io_first_child == nullptr && kind != nullptr) {
      const std::string address = pci_address(&object->attr->pcidev);
      all.devices.push_back({address, kind, address, nodes_near(topology, object, all)});
    }
  }
}

} // namespace

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
