// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/core.h>

#include "topology/hwloc_machine.hpp"

namespace nodewise::topology_detail {

namespace {

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

/// The kind for a PCI class; nullptr for devices that no program reads or writes much.
const char* kind_of_class(unsigned short class_id) noexcept {
  switch (class_id >> 8) {
  case 0x01:
    return "storage";
  case 0x02:
    return class_id == 0x0207 ? "fabric" : "network";
  case 0x03:
  case 0x12:
    return "gpu";
  case 0x0c:
    return class_id == 0x0c06 ? "fabric" : nullptr;
  default:
    return nullptr;
  }
}

std::string pci_address(hwloc_obj_t object) {
  while (object != nullptr && object->type != HWLOC_OBJ_PCI_DEVICE) {
    object = object->parent;
  }
  if (object == nullptr) {
    return {};
  }
  const auto& pci = object->attr->pcidev;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.dev, pci.func);
}

/// The nodes near a device. A device at the root of a machine of several nodes has none: the
/// firmware does not report its place.
node_set nodes_near(hwloc_topology_t topology, hwloc_obj_t device, const machine& all) {
  hwloc_obj_t const place = hwloc_get_non_io_ancestor_obj(topology, device);
  if (place == nullptr || (place == hwloc_get_root_obj(topology) && all.nodes.size() > 1)) {
    return {};
  }
  return to_node_set(place->nodeset) & all.node_ids();
}

} // namespace

void add_devices(hwloc_topology_t topology, machine& all) {
  for (hwloc_obj_t object : objects(topology, HWLOC_OBJ_OS_DEVICE)) {
    all.devices.push_back({object->name != nullptr ? object->name : "?",
                           kind_of(object->attr->osdev.type), pci_address(object),
                           nodes_near(topology, object, all)});
  }
  // A device without a driver has only its address as a name.
  for (hwloc_obj_t object : objects(topology, HWLOC_OBJ_PCI_DEVICE)) {
    const char* const kind = kind_of_class(object->attr->pcidev.class_id);
    if (object->io_first_child == nullptr && kind != nullptr) {
      const std::string address = pci_address(object);
      all.devices.push_back({address, kind, address, nodes_near(topology, object, all)});
    }
  }
}

} // namespace nodewise::topology_detail
