// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The one machine schema: what the topology readers fill, the lab boots, `measure` completes and
// the model computes with. A plain value; as JSON it is `nodewise/machine/1` (docs/formats.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nodewise/export.hpp>
#include <nodewise/id.hpp>
#include <nodewise/id_set.hpp>

namespace nodewise::inline v0 {

/// What a memory is made of, where the firmware says.
enum class memory_kind { unknown, dram, hbm, cxl, gpu, other };
/// What a cache holds.
enum class cache_kind { unified, data, instruction };

/// A NUMA node: a memory and the processors nearest to it. A node may have no processors (HBM,
/// CXL, GPU memory) or no memory.
struct memory_node {
  node_id id = unknown_node;
  cpu_set cpus;                   ///< empty for a memory-only node
  std::uint64_t memory_bytes = 0; ///< 0 for a node without memory
  memory_kind kind = memory_kind::unknown;
  int logical = -1; ///< hwloc's number (L#), by its place in the tree; -1 if hwloc was not asked
};

/// What is in one socket.
struct package {
  int id = -1; ///< the operating system's number, -1 if it gives none
  cpu_set cpus;
};

/// The hardware threads of one core.
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
  cpu_set cpus;                 ///< who shares it
};

/// A measured or published figure, from the processors of one node to the memory of another.
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
  node_set nodes;   ///< empty if the firmware does not say
};

/// What a virtual machine of the lab uses instead of the real machine's figures.
struct lab_settings {
  std::vector<std::uint64_t> memory_bytes; ///< one a node, in the order of `nodes`
  node_set offline_nodes;                  ///< taken offline after boot: a gap in the numbers
};

/// A machine, whoever described it.
struct machine {
  std::string name;
  std::string title;
  std::string source;             ///< who published or recorded it
  std::vector<std::string> notes; ///< what was shrunk or assumed
  std::vector<memory_node> nodes; ///< ascending by id
  std::vector<package> packages;
  std::vector<core> cores; ///< ascending by first processor
  std::vector<cache> caches;
  /// Row i, column j: the firmware's distance from nodes[i] to nodes[j], 10 is local; empty if it
  /// publishes none. A distance is not a cost: it orders, it does not measure.
  std::vector<std::vector<int>> distances;
  std::vector<parameter> parameters;
  std::vector<device> devices;
  lab_settings lab;

  /// The node with this number, or nullptr.
  [[nodiscard]] NODEWISE_API const memory_node* find_node(node_id id) const noexcept;
  /// The union of all nodes' and cores' processors.
  [[nodiscard]] NODEWISE_API cpu_set cpus() const;
  /// The numbers of all nodes.
  [[nodiscard]] NODEWISE_API node_set node_ids() const;
  /// The firmware's distance, 10 is local; nullopt if it publishes none or a node is not there.
  [[nodiscard]] NODEWISE_API std::optional<int> distance(node_id from, node_id to) const noexcept;
};

} // namespace nodewise::inline v0
