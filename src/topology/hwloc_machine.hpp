// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Converts hwloc's tree to the machine schema, part by part.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/id_set.hpp>
#include <nodewise/machine.hpp>

#include "topology/hwloc_handle.hpp"

namespace nodewise::topology_detail {

[[nodiscard]] cpu_set to_cpu_set(hwloc_const_bitmap_t bitmap);
[[nodiscard]] node_set to_node_set(hwloc_const_bitmap_t bitmap);

/// The value of "HostName" or a similar name, or an empty text.
[[nodiscard]] std::string info_of(hwloc_obj_t object, const char* name);

/// All objects of one type, in hwloc's logical order.
[[nodiscard]] std::vector<hwloc_obj_t> objects(hwloc_topology_t topology, hwloc_obj_type_t type);

/// Everything but name, title and source. `attribute_source` becomes the parameters' source.
[[nodiscard]] machine to_machine(hwloc_topology_t topology, const std::string& attribute_source);

/// Adds the nodes that only the kernel lists, and the kernel's distances. hwloc leaves out the
/// memory of NVIDIA's GPUs, but programs find pages there as on any other node.
void add_nodes_left_out(machine& all, const machine& kernel);

/// A memory attribute of hwloc and the corresponding parameter.
struct memory_attribute {
  hwloc_memattr_id_t id;
  std::string_view xml_name; ///< in hwloc's XML
  std::string_view name;
  std::string_view unit;
  double scale; ///< from hwloc's MiB/s and ns, which are whole numbers
};
inline constexpr double mib_per_s = 1048576e-9;
inline constexpr std::array memory_attributes{
    memory_attribute{HWLOC_MEMATTR_ID_BANDWIDTH, "Bandwidth", "bandwidth", "GB/s", mib_per_s},
    memory_attribute{HWLOC_MEMATTR_ID_LATENCY, "Latency", "latency", "ns", 1.0},
    memory_attribute{HWLOC_MEMATTR_ID_READ_BANDWIDTH, "ReadBandwidth", "read_bandwidth", "GB/s",
                     mib_per_s},
    memory_attribute{HWLOC_MEMATTR_ID_WRITE_BANDWIDTH, "WriteBandwidth", "write_bandwidth", "GB/s",
                     mib_per_s},
    memory_attribute{HWLOC_MEMATTR_ID_READ_LATENCY, "ReadLatency", "read_latency", "ns", 1.0},
    memory_attribute{HWLOC_MEMATTR_ID_WRITE_LATENCY, "WriteLatency", "write_latency", "ns", 1.0},
};

// The parts with a file of their own; each reads `all.nodes`.
void add_distances(hwloc_topology_t topology, machine& all);
void add_memory_attributes(hwloc_topology_t topology, const std::string& source, machine& all);
void add_devices(hwloc_topology_t topology, machine& all);

} // namespace nodewise::topology_detail
