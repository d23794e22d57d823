// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From hwloc's tree to the machine schema, part by part.
#pragma once

#include <string>
#include <vector>

#include <nodewise/id_set.hpp>
#include <nodewise/machine.hpp>

#include "topology/hwloc_handle.hpp"

namespace nodewise::topology_detail {

[[nodiscard]] cpu_set to_cpu_set(hwloc_const_bitmap_t bitmap);
[[nodiscard]] node_set to_node_set(hwloc_const_bitmap_t bitmap);

/// "HostName" and its like, or an empty text.
[[nodiscard]] std::string info_of(hwloc_obj_t object, const char* name);

/// All objects of one type, in hwloc's logical order.
[[nodiscard]] std::vector<hwloc_obj_t> objects(hwloc_topology_t topology, hwloc_obj_type_t type);

/// Everything but name, title and source. `attribute_source` is what the parameters say theirs is.
[[nodiscard]] machine to_machine(hwloc_topology_t topology, const std::string& attribute_source);

// The parts that have a file of their own; each reads `all.nodes`.
void add_distances(hwloc_topology_t topology, machine& all);
void add_memory_attributes(hwloc_topology_t topology, const std::string& source, machine& all);
void add_devices(hwloc_topology_t topology, machine& all);

} // namespace nodewise::topology_detail
