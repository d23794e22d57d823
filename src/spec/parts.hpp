// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The machine's parts in the order in which hwloc numbers them (L#): down its tree, the parts of
// one part by their first processors.
#pragma once

#include <vector>

#include <nodewise/topology.hpp>

#include "spec/system_files.hpp"

namespace nodewise::spec {

struct node_part {
  const memory_node* is = nullptr;
  /// Its processors; those it is near to if it has none of its own.
  cpu_set near;
};

/// Valid as long as the topology is.
class parts {
 public:
  enum class caches { unread, read };

  /// `wanted`: caches are read from the system's files where the machine value has none. They
  /// matter to the order only where processors that share one are not numbered in a row.
  parts(const topology& where, const system_files& files, caches wanted);

  [[nodiscard]] const std::vector<cpu_id>& processors() const noexcept { return order_; }
  /// Processors that no core claims are cores of their own.
  [[nodiscard]] std::vector<cpu_set> cores() const;
  [[nodiscard]] std::vector<cpu_set> packages() const;
  /// Instruction caches, or data and unified ones.
  [[nodiscard]] std::vector<cpu_set> caches_of(int level, bool instruction) const;
  /// 0 if no caches are known.
  [[nodiscard]] int last_cache_level() const noexcept;

  [[nodiscard]] const std::vector<node_part>& nodes() const noexcept { return nodes_; }

 private:
  void order_processors();
  void order_nodes(const system_files& files);
  [[nodiscard]] cpu_set nearest_processors(const memory_node& node,
                                           const system_files& files) const;
  [[nodiscard]] int first_position(const cpu_set& cpus) const;
  [[nodiscard]] std::vector<cpu_set> in_order(std::vector<cpu_set> sets) const;

  const topology& where_;
  std::vector<cache> caches_;
  std::vector<cpu_id> order_;
  std::vector<int> position_; ///< in `order_`, by processor number
  std::vector<node_part> nodes_;
};

} // namespace nodewise::spec
