// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Lists as numactl reads them, which are part of the other syntaxes too, and the checks and
// refusals that all syntaxes share.
#pragma once

#include <nodewise/topology.hpp>

#include "topology/small_file.hpp"

namespace nodewise::spec {

/// The purpose of nodes: a node may have processors, memory, or both.
enum class node_purpose { processors, memory };

using topology_detail::take_until;

/// Throws `error` (usage).
[[noreturn]] void refuse(std::string asked, const std::string& answered, std::string hint);
[[noreturn]] void refuse_list(std::string_view text, const std::string& answered, std::string hint);

/// The nodes that can be used for this purpose.
[[nodiscard]] node_set usable_nodes(const topology& where, node_purpose purpose);

/// The processors of these nodes, allowed or not.
[[nodiscard]] cpu_set cpus_of(const node_set& nodes, const topology& where);

/// Throws for an existing node that was named but cannot be used for this purpose.
void check_node(node_id node, const topology& where, node_purpose purpose, const node_set& usable);

/// Throws if a named part of the machine has no allowed processor.
void check_allowed(const std::string& name, const cpu_set& cpus, const topology& where);

/// The whole text taken as a number from 0 to `max_id`, or -1.
[[nodiscard]] int number_of(std::string_view text) noexcept;

// Lists of nodes and processors as numactl reads them: "0-3,8", "+0" (counted among those that this
// process may use), "!0" (all that it may use except these), "all".

[[nodiscard]] node_set numactl_nodes(std::string_view text, const topology& where,
                                     node_purpose purpose);
[[nodiscard]] cpu_set numactl_cpus(std::string_view text, const topology& where);

} // namespace nodewise::spec
