// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <nodewise/id_set.hpp>

#include "doctor/control_group.hpp"
#include "sys/kernel.hpp"

namespace nodewise::doctor {

/// What there is, and what this process may use of it. nullopt: could not be read.
struct allowance {
  std::optional<cpu_set> cpus_online;
  std::optional<node_set> nodes_online;
  std::optional<node_set> nodes_with_memory;
  std::optional<node_set> nodes_with_cpus;
  /// Of the processors and nodes online: Linux also lists such as could be plugged in.
  std::optional<cpu_set> cpus_allowed;
  std::optional<node_set> nodes_allowed;
  cpuset group; ///< what the control group allows, likewise

  /// The nodes whose memory this process may have; nullopt if that is not known.
  [[nodiscard]] std::optional<node_set> usable_nodes() const;
  /// Whether there is more than one of these; what is not known counts as several.
  [[nodiscard]] bool several_nodes() const;
};

[[nodiscard]] allowance read_allowance(sys::kernel& from);

} // namespace nodewise::doctor
