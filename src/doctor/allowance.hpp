// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <nodewise/id_set.hpp>

#include "doctor/control_group.hpp"
#include "sys/kernel.hpp"

namespace nodewise::doctor {

/// The processors and nodes of the machine, and those that this process may use. nullopt: could not
/// be read.
struct allowance {
  std::optional<cpu_set> cpus_online;
  std::optional<node_set> nodes_online;
  std::optional<node_set> nodes_with_memory;
  std::optional<node_set> nodes_with_cpus;
  /// Only processors and nodes that are online: Linux also lists those that could be plugged in.
  std::optional<cpu_set> cpus_allowed;
  std::optional<node_set> nodes_allowed;
  cpuset group; ///< what the control group allows, online ones only

  /// The nodes on which this process may allocate memory; nullopt if unknown.
  [[nodiscard]] std::optional<node_set> usable_nodes() const;
  /// Whether there is more than one usable node; unknown counts as several.
  [[nodiscard]] bool several_nodes() const;
};

[[nodiscard]] allowance read_allowance(sys::kernel& from);

} // namespace nodewise::doctor
