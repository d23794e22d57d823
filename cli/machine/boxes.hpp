// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a picture of a machine shows of its nodes, as text or as SVG.
#pragma once

#include <string>
#include <vector>

#include <nodewise/topology.hpp>

namespace nodewise::cli {

/// Cores drawn as one grid, with a heading if a node has several packages.
struct core_group {
  std::string heading;
  std::vector<cpu_set> cores;
};

struct node_box {
  node_id node = unknown_node;
  std::string title;
  std::vector<std::string> facts;
  std::vector<core_group> groups;
};

/// Nodes with processors, nodes without, and processors of no node: each sort in its own rows.
/// `dot` separates facts in a line.
[[nodiscard]] std::vector<std::vector<node_box>> sorts_of(const topology& what, const char* dot);

} // namespace nodewise::cli
