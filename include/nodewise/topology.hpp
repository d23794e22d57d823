// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The machine, and the processors and nodes that this process may use.
//
//     const auto here = nodewise::topology::system();
//     for (const nodewise::domain& each : here.domains()) {
//       std::printf("node %d: processors %s\n", nodewise::to_int(each.node),
//                   each.cpus.to_string().c_str());
//     }
//     const auto other = nodewise::topology::synthetic("4x2"); // four nodes of two cores
//     std::printf("%zu nodes\n", other.domains().size());
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/machine.hpp>

namespace nodewise::inline v0 {

/// A locality domain: a node and its processors.
struct domain {
  node_id node = unknown_node;
  cpu_set cpus;
};

/// The size of a place, as OpenMP's `threads`, `cores`, `numa_domains`, `sockets`.
enum class place_kind { threads, cores, nodes, packages };

/// What `topology::from_sysfs` reads: one or two files for each node, core or package.
enum class sysfs_detail {
  nodes, ///< nodes with processors and memory, what is allowed; no cores, packages or distances
  cores, ///< also the cores
  all,   ///< also cores, packages and distances
};

/// The machine, and the processors and nodes that this process may use. An immutable value.
class NODEWISE_API topology {
 public:
  /// Reads this machine with hwloc, including devices, caches and memory attributes. Throws `error`
  /// if discovery fails. The kernel reports what is allowed: the cpuset of the process's cgroup and
  /// the affinity mask of its first thread, so that `taskset`, Slurm and mpirun take effect. (If
  /// OMP_PROC_BIND is set, libgomp narrows that mask to one place before `main`.)
  [[nodiscard]] static topology system();
  /// Reads this machine from a few files of /sys and /proc: nodes, processors, cores, packages and
  /// distances. Agrees with `system()` on all of these and is two orders of magnitude faster.
  /// `root` may be a recorded tree; a `std::filesystem::path` converts to it. (The parameter is a
  /// string because that class links the stream library into static programs.) Throws `error`:
  /// (system) if /sys is not mounted, (input) if the tree or a file in it is invalid.
  [[nodiscard]] static topology from_sysfs(const std::string& root = "/",
                                           sysfs_detail detail = sysfs_detail::all);
  /// Reads a recorded sysfs tree with hwloc. Throws `error` if the tree cannot be read. Sets
  /// hwloc's environment variables while it reads: other threads must not use the environment
  /// meanwhile.
  [[nodiscard]] static topology from_sysfs_by_hwloc(const std::filesystem::path& root);
  /// Reads a machine recorded by `lstopo file.xml` (hwloc 2.x). Throws `error` (input) if the file
  /// cannot be read.
  [[nodiscard]] static topology from_xml(const std::filesystem::path& file);
  /// Makes a machine from hwloc's synthetic syntax ("numa:2 core:4 pu:1") or from "4x2" (nodes x
  /// cores) or "4x2x2" (nodes x cores x threads). Throws `error` (usage) if `spec` is invalid.
  [[nodiscard]] static topology synthetic(std::string_view spec);
  /// Reads a machine file (`nodewise/machine/1`, or a topology file written by `topo --json`).
  /// Throws `error` (input) that names the invalid field.
  [[nodiscard]] static topology from_json(const std::filesystem::path& file);

  /// Makes a topology in which only the given processors and nodes are allowed.
  topology(nodewise::machine all, cpu_set allowed_cpus, node_set allowed_nodes);
  /// Makes a topology in which everything is allowed.
  explicit topology(nodewise::machine all);

  /// Returns the machine.
  [[nodiscard]] const nodewise::machine& machine() const noexcept { return machine_; }
  /// Returns the processors that this process may run on.
  [[nodiscard]] const cpu_set& allowed_cpus() const noexcept { return allowed_cpus_; }
  /// Returns the nodes on which this process may allocate memory.
  [[nodiscard]] const node_set& allowed_nodes() const noexcept { return allowed_nodes_; }

  /// Returns the nodes that have allowed processors, each with these processors, ascending by node
  /// number. Processors without a node are in no domain.
  [[nodiscard]] std::vector<domain> domains() const;
  /// Returns every allowed node that has memory, with or without processors.
  [[nodiscard]] node_set memory_nodes() const;
  /// Returns the node that the processor belongs to, or `unknown_node`.
  [[nodiscard]] node_id node_of(cpu_id cpu) const noexcept;
  /// Returns the firmware's distance; 10 is local. nullopt if the firmware publishes none or the
  /// machine lacks one of the nodes.
  [[nodiscard]] std::optional<int> distance(node_id from, node_id to) const noexcept {
    return machine_.distance(from, to);
  }
  /// Groups the allowed processors into places: each processor is in exactly one place. Places
  /// ascend by node, then by core, then by number; places without an allowed processor are left
  /// out. A processor without a core is a core of its own; processors without a node (or package)
  /// form one more place, at the end.
  [[nodiscard]] std::vector<cpu_set> places(place_kind kind) const;

 private:
  void sort_by_node(std::vector<cpu_set>& places) const;

  nodewise::machine machine_;
  cpu_set allowed_cpus_;
  node_set allowed_nodes_;
};

} // namespace nodewise::inline v0
