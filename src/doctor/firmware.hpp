// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the firmware says of nodes and distances, and whether it can be so: arithmetic on a machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nodewise/machine.hpp>

#include "doctor/allowance.hpp"
#include "doctor/finding.hpp"
#include "doctor/surroundings.hpp"

namespace nodewise::doctor {

/// Whether there are nodes where there should be. `command_line`: the kernel's, "" if unknown.
[[nodiscard]] finding examine_nodes(const machine& of, std::string_view command_line);

/// Whether distances tell nodes apart.
[[nodiscard]] finding examine_distances(const machine& of);

/// Two memories of which the firmware says one is nearer to the processors of `from`, or both as
/// near, while measured costs say otherwise.
struct contradiction {
  node_id from = unknown_node;
  node_id near = unknown_node; ///< by the firmware; of two as near, the one that costs more
  node_id far = unknown_node;
  int near_distance = 0;
  int far_distance = 0;
  std::string name; ///< "latency", "bandwidth"
  std::string unit;
  double near_value = 0;
  double far_value = 0;
};

/// All of these, of parameters named "latency" and "bandwidth" whose source begins with "measured".
/// A figure may be 10 % off: what two such errors could explain contradicts nothing. Of several
/// figures for one pair of nodes the first counts.
[[nodiscard]] std::vector<contradiction> find_contradictions(const machine& of);

/// The same as a finding: unavailable where nothing is measured, or what was is `unused`.
[[nodiscard]] finding examine_measured(const machine& of, const unused_costs& unused = {});

/// Whether this process may run on processors whose own memory it may not have.
[[nodiscard]] finding examine_reach(const machine& of, const allowance& may);

} // namespace nodewise::doctor
