// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The machine's parts in the order of hwloc's logical numbers (L#): down its tree, with the
// children of each part ordered by their first processors.
#pragma once

#include <nodewise/topology.hpp>

#include "spec/devices.hpp"

namespace nodewise::spec {

struct node_part {
  const memory_node* is = nullptr;
  /// Its own processors; if it has none, the nearest ones.
  cpu_set near;
};

/// Valid as long as the topology is.
class parts {
 public:
  /// `with_caches`: whether to read caches from the system's files if the machine value has none.
  /// Caches affect the order only if processors that share one are not numbered consecutively.
  parts(const topology& where, const system_files& files, bool with_caches);

  /// Each processor by itself.
  [[nodiscard]] std::vector<cpu_set> processors() const;
  /// Each processor that belongs to no core counts as a core.
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
