// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The description of a machine. Topology readers fill it, the lab boots it, `measure` completes it,
// and the model computes with it. Its JSON form is `nodewise/machine/1` (docs/formats.md).
//
//     #include <nodewise/topology.hpp>
//
//     const nodewise::machine machine = nodewise::topology::system().machine();
//     for (const nodewise::memory_node& node : machine.nodes) {
//       std::printf("node %d: processors %s, %llu MiB\n", nodewise::to_int(node.id),
//                   node.cpus.to_string().c_str(), node.memory_bytes / 1048576ULL);
//     }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nodewise/id_set.hpp>

namespace nodewise::inline v0 {

/// What a memory is made of; `unknown` if the firmware does not report it.
enum class memory_kind { unknown, dram, hbm, cxl, gpu, other };
/// What a cache holds: data, instructions or both.
enum class cache_kind { unified, data, instruction };

/// A NUMA node: a memory and the processors nearest to it. A node may have no processors (HBM,
/// CXL, GPU memory) or no memory.
struct memory_node {
  node_id id = unknown_node;
  cpu_set cpus;                   ///< empty for a memory-only node
  std::uint64_t memory_bytes = 0; ///< 0 for a node without memory
  memory_kind kind = memory_kind::unknown;
  int logical = -1; ///< hwloc's logical number (L#); -1 if hwloc did not read the machine
};

/// A socket and its processors.
struct package {
  int id = -1; ///< the operating system's number; -1 if it has none
  cpu_set cpus;
};

/// A core and its hardware threads.
struct core {
  cpu_set cpus;
};

/// A cache, and the processors that share it.
struct cache {
  int level = 0;
  cache_kind kind = cache_kind::unified;
  std::uint64_t size_bytes = 0; ///< 0 if not published
  unsigned line_bytes = 0;      ///< 0 if not published
  unsigned ways = 0;            ///< 0 if not published, or fully associative
  cpu_set cpus;                 ///< the processors that share it
};

/// A measured or published value of accesses by the processors of one node to the memory of
/// another.
struct parameter {
  std::string name; ///< "bandwidth", "latency", ...
  node_id from = unknown_node;
  node_id to = unknown_node;
  double value = 0;
  std::string unit;   ///< "GB/s" (10^9), "ns"
  std::string source; ///< "measured ...", "HMAT", a publication, or "assumed"
};

/// A device and the NUMA nodes nearest to it.
struct device {
  std::string name; ///< "eth0", "nvme0n1", "renderD128"
  std::string kind; ///< "network", "storage", "gpu", "fabric", "other"
  std::string bus;  ///< PCI address "0000:3b:00.0", or empty
  node_set nodes;   ///< empty if the firmware does not report them
};

/// What a virtual machine of the lab uses instead of the real machine's values.
struct lab_settings {
  std::vector<std::uint64_t> memory_bytes; ///< one for each node, in the order of `nodes`
  node_set offline_nodes;                  ///< taken offline after boot: a gap in the numbers
};

/// A machine: its nodes, processors, caches and devices, and what is known about their speed.
struct machine {
  std::string name;
  std::string title;
  std::string source;             ///< where the description comes from
  std::vector<std::string> notes; ///< what was scaled down or assumed
  std::vector<memory_node> nodes; ///< ascending by id
  std::vector<package> packages;
  std::vector<core> cores; ///< ascending by first processor
  std::vector<cache> caches;
  /// Row i, column j: the firmware's distance from nodes[i] to nodes[j]; 10 is local. Empty if the
  /// firmware publishes none. Distances order nodes by nearness; they do not measure cost.
  std::vector<std::vector<int>> distances;
  std::vector<parameter> parameters;
  std::vector<device> devices;
  lab_settings lab;

  /// Returns the node with this number; nullptr if there is none.
  [[nodiscard]] NODEWISE_API const memory_node* find_node(node_id id) const noexcept;
  /// Returns the processors of all nodes and cores.
  [[nodiscard]] NODEWISE_API cpu_set cpus() const;
  /// Returns the numbers of all nodes.
  [[nodiscard]] NODEWISE_API node_set node_ids() const;
  /// Returns the firmware's distance; 10 is local. nullopt if the firmware publishes none or the
  /// machine lacks one of the nodes.
  [[nodiscard]] NODEWISE_API std::optional<int> distance(node_id from, node_id to) const noexcept;
};

} // namespace nodewise::inline v0
