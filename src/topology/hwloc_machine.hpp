// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Loads hwloc's trees and converts them to the machine schema, part by part. Only the files hwloc_*
// of this folder use hwloc.
#pragma once

#include <memory>

#include <hwloc.h>

#include "topology/export_xml.hpp"

namespace nodewise::topology_detail {

struct hwloc_destroy {
  void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};
using hwloc_handle = std::unique_ptr<hwloc_topology, hwloc_destroy>;

/// Throws `error`. Disallowed processors and nodes are kept, as are instruction caches and the
/// devices that hwloc calls important.
[[nodiscard]] hwloc_handle load(const hwloc_source& source);
/// The same for text that hwloc has written; `asked` is for the error.
[[nodiscard]] hwloc_handle load_xml_text(const std::string& text, const std::string& asked);

template <class Id>
[[nodiscard]] id_set<Id> to_set(hwloc_const_bitmap_t bitmap) {
  id_set<Id> set;
  // A bitmap may be infinite ("all there may ever be"); no number above max_id is in use.
  for (int id = bitmap == nullptr ? -1 : hwloc_bitmap_first(bitmap); id >= 0 && id <= max_id;
       id = hwloc_bitmap_next(bitmap, id)) {
    set.insert(Id{id});
  }
  return set;
}

/// The value of "HostName" or a similar name, or an empty text.
[[nodiscard]] std::string info_of(hwloc_obj_t object, const char* name);

/// All objects of one type, in hwloc's logical order.
[[nodiscard]] std::vector<hwloc_obj_t> objects(hwloc_topology_t topology, hwloc_obj_type_t type);

/// Everything but name, title and source. `attribute_source` becomes the parameters' source.
[[nodiscard]] machine to_machine(hwloc_topology_t topology, const std::string& attribute_source);

/// Adds the nodes that only the kernel lists, and the kernel's distances. hwloc leaves out the
/// memory of NVIDIA's GPUs, but programs find pages there as on any other node.
void add_nodes_left_out(machine& all, const machine& kernel);

// The parts with a file of their own; each reads `all.nodes`.
void add_distances(hwloc_topology_t topology, machine& all);
void add_memory_attributes(hwloc_topology_t topology, const std::string& source, machine& all);

} // namespace nodewise::topology_detail
