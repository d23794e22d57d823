// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Lists of nodes and processors as numactl reads them: "0-3,8", "+0" (counted within what this
// process may use), "!0" (all that it may use but these), "all".
#pragma once

#include <string_view>

#include <nodewise/id_set.hpp>
#include <nodewise/topology.hpp>

namespace nodewise::launch {

/// What nodes are wanted for: a node may have processors, memory, or both.
enum class node_purpose { processors, memory };

/// Throws `error` (usage) for a list that makes no sense, a node that is not there, that this
/// process may not use, or that lacks what it is wanted for; and if none is left. The set is never
/// empty.
[[nodiscard]] node_set resolve_nodes(std::string_view spec, const topology& where,
                                     node_purpose purpose);

/// Throws `error` (usage) for processors that are not there or not allowed, and if none is left.
[[nodiscard]] cpu_set resolve_cpus(std::string_view spec, const topology& where);

} // namespace nodewise::launch
