// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Checks the firmware's description of nodes and distances: arithmetic on a machine value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nodewise/machine.hpp>

#include "doctor/allowance.hpp"
#include "doctor/finding.hpp"
#include "doctor/surroundings.hpp"

namespace nodewise::doctor {

/// Whether the machine has as many nodes as it should. `command_line`: the kernel's, "" if unknown.
[[nodiscard]] finding examine_nodes(const machine& of, std::string_view command_line);

/// Whether the distances distinguish nodes.
[[nodiscard]] finding examine_distances(const machine& of);

/// Two memories for which measured costs contradict the firmware: it says that one is nearer to the
/// processors of `from`, or that both are equally near.
struct contradiction {
  node_id from = unknown_node;
  node_id near = unknown_node; ///< by the firmware; if both are equally near, the costlier one
  node_id far = unknown_node;
  int near_distance = 0;
  int far_distance = 0;
  std::string name; ///< "latency", "bandwidth"
  std::string unit;
  double near_value = 0;
  double far_value = 0;
};

/// All contradictions of parameters named "latency" and "bandwidth" whose source begins with
/// "measured". A figure may be 10 % off: a difference that two such errors could explain is no
/// contradiction. The first of several figures for a pair of nodes counts.
[[nodiscard]] std::vector<contradiction> find_contradictions(const machine& of);

/// The same as a finding: unavailable if nothing was measured, or the measured costs are `unused`.
[[nodiscard]] finding examine_measured(const machine& of, const unused_costs& unused = {});

/// Whether this process may run on processors without permission to allocate on their own node.
[[nodiscard]] finding examine_reach(const machine& of, const allowance& may);

} // namespace nodewise::doctor
