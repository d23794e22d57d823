// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The machine, and what this process may use of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/export.hpp>
#include <nodewise/id.hpp>
#include <nodewise/id_set.hpp>
#include <nodewise/machine.hpp>

namespace nodewise::inline v0 {

/// A locality domain: a memory and the processors nearest to it.
struct domain {
  node_id node = unknown_node;
  cpu_set cpus;
};

/// How coarse a place is: OpenMP's `threads`, `cores`, `numa_domains`, `sockets`.
enum class place_kind { threads, cores, nodes, packages };

/// How much `topology::from_sysfs` reads: a file or two for each node, core or package it tells of.
enum class sysfs_detail {
  nodes, ///< nodes, their processors and memory, what is allowed; no cores, packages or distances
  cores, ///< and the cores
  all,   ///< and packages and distances
};

/// The machine and what this process may use of it: an immutable value, passed in.
class NODEWISE_API topology {
 public:
  /// This machine by hwloc, with devices, caches and memory attributes. Throws `error` if discovery
  /// fails. What is allowed is what the kernel says of this process: the cpuset of its cgroup and
  /// the affinity mask of its first thread, so that `taskset`, Slurm and mpirun are honoured. (With
  /// OMP_PROC_BIND set, libgomp narrows that mask to one place before `main`.)
  [[nodiscard]] static topology system();
  /// This machine by a few files of /sys and /proc: nodes, processors, cores, packages, distances.
  /// Agrees with `system()` on all of these and is two orders of magnitude faster. `root` may be a
  /// recorded tree; a `std::filesystem::path` converts. (Not one by type: that class alone brings
  /// the stream library into a statically linked program.) Throws `error`.
  [[nodiscard]] static topology from_sysfs(const std::string& root = "/",
                                           sysfs_detail detail = sysfs_detail::all);
  /// A recorded sysfs tree, read by hwloc. Throws `error` if it cannot be read. Sets variables of
  /// hwloc's while it reads: no other thread may use the environment then.
  [[nodiscard]] static topology from_sysfs_by_hwloc(const std::filesystem::path& root);
  /// A machine recorded by `lstopo file.xml` (hwloc 2.x). Throws `error` (input).
  [[nodiscard]] static topology from_xml(const std::filesystem::path& file);
  /// hwloc's synthetic syntax ("numa:2 core:4 pu:1") or "4x2": nodes x cores, "4x2x2": x threads.
  /// Throws `error` (usage).
  [[nodiscard]] static topology synthetic(std::string_view spec);
  /// A machine file (`nodewise/machine/1` or a topology file written by `topo --json`). Throws
  /// `error` (input) naming the field that is wrong.
  [[nodiscard]] static topology from_json(const std::filesystem::path& file);

  /// Everything allowed but what `allowed_*` leave out.
  topology(nodewise::machine all, cpu_set allowed_cpus, node_set allowed_nodes);
  /// Everything allowed.
  explicit topology(nodewise::machine all);

  /// The machine.
  [[nodiscard]] const nodewise::machine& machine() const noexcept { return machine_; }
  /// The processors that this process may run on.
  [[nodiscard]] const cpu_set& allowed_cpus() const noexcept { return allowed_cpus_; }
  /// The nodes that it may have memory of.
  [[nodiscard]] const node_set& allowed_nodes() const noexcept { return allowed_nodes_; }

  /// Nodes that have allowed processors, with these; ascending by node number. Processors that no
  /// node claims make no domain.
  [[nodiscard]] std::vector<domain> domains() const;
  /// Every allowed node that has memory, with or without processors.
  [[nodiscard]] node_set memory_nodes() const;
  /// The node the processor belongs to, or `unknown_node`.
  [[nodiscard]] node_id node_of(cpu_id cpu) const noexcept;
  /// The firmware's distance, 10 is local; nullopt if it publishes none or a node is not there.
  [[nodiscard]] std::optional<int> distance(node_id from, node_id to) const noexcept {
    return machine_.distance(from, to);
  }
  /// Allowed processors in places, each in exactly one, ascending by node, then by core, then by
  /// number; a place without an allowed processor is left out. Processors that no core claims are
  /// cores of their own; those that no node (or package) claims make one more place, at the end.
  [[nodiscard]] std::vector<cpu_set> places(place_kind kind) const;

 private:
  void sort_by_node(std::vector<cpu_set>& places) const;

  nodewise::machine machine_;
  cpu_set allowed_cpus_;
  node_set allowed_nodes_;
};

} // namespace nodewise::inline v0
