// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The readers of `topology` that use hwloc.
#include <nodewise/topology.hpp>

#include <string>
#include <utility>

#include <fmt/core.h>

#include "topology/hwloc_machine.hpp"

namespace nodewise::inline v0 {

namespace {

using namespace topology_detail;

topology with_allowed(hwloc_topology_t loaded, machine all) {
  return {std::move(all), to_cpu_set(hwloc_topology_get_allowed_cpuset(loaded)),
          to_node_set(hwloc_topology_get_allowed_nodeset(loaded))};
}

/// "Vendor Product" from the firmware's table.
std::string product(hwloc_obj_t root) {
  const std::string vendor = info_of(root, "DMISysVendor");
  const std::string name = info_of(root, "DMIProductName");
  return vendor.empty() || name.empty() ? vendor + name : fmt::format("{} {}", vendor, name);
}

void describe(machine& all, hwloc_topology_t loaded, std::string name, std::string source) {
  hwloc_obj_t const root = hwloc_get_root_obj(loaded);
  all.name = std::move(name);
  all.title = product(root);
  all.source = std::move(source);
}

/// Corrects what hwloc derives by what the kernel reports: the node of each processor, and what
/// this process may use (hwloc reads the cgroup, the kernel includes the affinity mask).
topology as_the_kernel_reports(const topology& by_hwloc) {
  const topology kernel = topology::from_sysfs("/", sysfs_detail::nodes);
  machine all = by_hwloc.machine();
  for (memory_node& node : all.nodes) {
    if (const memory_node* const reported = kernel.machine().find_node(node.id)) {
      node.cpus = reported->cpus;
    }
  }
  node_set allowed = by_hwloc.allowed_nodes();
  if (const node_set missing = kernel.machine().node_ids() - all.node_ids(); !missing.empty()) {
    add_nodes_left_out(all, topology::from_sysfs().machine());
    allowed = allowed | missing;
  }
  return {std::move(all), by_hwloc.allowed_cpus() & kernel.allowed_cpus(),
          allowed & kernel.allowed_nodes()};
}

} // namespace

topology topology::system() {
  const hwloc_handle loaded = load_system();
  hwloc_obj_t const root = hwloc_get_root_obj(loaded.get());
  nodewise::machine all = to_machine(loaded.get(), "HMAT");
  describe(all, loaded.get(), info_of(root, "HostName"),
           fmt::format("hwloc {} on {} {}", info_of(root, "hwlocVersion"), info_of(root, "OSName"),
                       info_of(root, "OSRelease")));
  if (hwloc_topology_is_thissystem(loaded.get()) == 0) {
    all.notes.emplace_back("not this machine: a variable HWLOC_* selects another");
    return with_allowed(loaded.get(), std::move(all));
  }
  return as_the_kernel_reports(with_allowed(loaded.get(), std::move(all)));
}

topology topology::from_xml(const std::filesystem::path& file) {
  const hwloc_handle loaded = load_xml(file);
  nodewise::machine all = to_machine(loaded.get(), "memory attributes recorded by hwloc");
  describe(all, loaded.get(), file.stem().string(), "recorded by hwloc");
  return with_allowed(loaded.get(), std::move(all));
}

topology topology::from_sysfs_by_hwloc(const std::filesystem::path& root) {
  const hwloc_handle loaded = load_sysfs(root);
  nodewise::machine all = to_machine(loaded.get(), "HMAT");
  const auto trimmed = root.has_filename() ? root : root.parent_path();
  describe(all, loaded.get(), trimmed.filename().string(), "a recorded sysfs, read by hwloc");
  return with_allowed(loaded.get(), std::move(all));
}

topology topology::synthetic(std::string_view spec) {
  const hwloc_handle loaded = load_synthetic(spec);
  nodewise::machine all = to_machine(loaded.get(), "synthetic");
  describe(all, loaded.get(), std::string(spec), "synthetic");
  all.notes.emplace_back("synthetic: made up from a description, not measured");
  return with_allowed(loaded.get(), std::move(all));
}

} // namespace nodewise::inline v0
