// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include <nodewise/topology.hpp>

namespace nodewise::topology_detail {

/// This machine, or the one that HWLOC_XMLFILE or a similar variable puts in its place. Leaves out
/// the memory of NVIDIA's GPUs, unless a variable asks for it: hwloc's interface has no option for
/// it, and the library sets no variable.
struct this_machine {};
struct xml_file {
  std::filesystem::path file;
};
/// A recorded file-system root. Reading it sets environment variables during the call, because
/// hwloc has no other setting for it: no other thread may read the environment meanwhile.
struct sysfs_tree {
  std::filesystem::path root;
};
/// "4x2", "4x2x2" or hwloc's own syntax.
struct synthetic_machine {
  std::string spec;
};
using hwloc_source = std::variant<this_machine, xml_file, sysfs_tree, synthetic_machine>;

/// The machine in hwloc's XML, readable by `topology::from_xml` and by every tool that reads
/// hwloc's XML. Throws `error` as the readers do.
[[nodiscard]] std::string export_xml(const hwloc_source& source);

/// The same with the bandwidths and latencies of `measured` as hwloc's memory attributes, each from
/// the processors of a node. Measured values replace published ones, which stay where nothing was
/// measured. hwloc stores whole MiB/s and ns. Throws `error` (input) if `measured` has other nodes
/// or processors.
[[nodiscard]] std::string export_xml_with_costs(const hwloc_source& source,
                                                const machine& measured);

} // namespace nodewise::topology_detail
