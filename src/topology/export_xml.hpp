// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include <nodewise/machine.hpp>

namespace nodewise::topology_detail {

struct this_machine {};
struct xml_file {
  std::filesystem::path file;
};
struct sysfs_tree {
  std::filesystem::path root;
};
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

namespace nodewise {

/// This machine in hwloc's XML with the costs measured on it. Throws `error` as above.
[[nodiscard]] std::string xml_with_costs(const machine& measured);

} // namespace nodewise
