// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The checks and refusals that all syntaxes share.
#pragma once

#include <string>
#include <string_view>

#include <nodewise/topology.hpp>

#include "spec/node_purpose.hpp"
#include "topology/small_file.hpp"

namespace nodewise::spec {

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

} // namespace nodewise::spec
