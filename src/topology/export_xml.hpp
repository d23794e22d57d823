// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <variant>

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

/// The machine as hwloc writes it, readable by `topology::from_xml` and by every tool that takes
/// hwloc's XML. Throws `error` as the readers do.
[[nodiscard]] std::string export_xml(const hwloc_source& source);

} // namespace nodewise::topology_detail
