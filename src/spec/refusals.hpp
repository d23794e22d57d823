// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The checks and refusals that all syntaxes share.
#pragma once

#include <string>
#include <string_view>

#include <nodewise/topology.hpp>

#include "spec/spec.hpp"

namespace nodewise::spec {

/// Throws `error` (usage).
[[noreturn]] void refuse(std::string asked, const std::string& answered, std::string hint);

/// The nodes that can be used for this purpose.
[[nodiscard]] node_set usable_nodes(const topology& where, node_purpose purpose);

/// Throws for an existing node that was named but cannot be used for this purpose.
void check_node(node_id node, const topology& where, node_purpose purpose, const node_set& usable);

/// Throws if a named part of the machine has no allowed processor.
void check_allowed(const std::string& name, const cpu_set& cpus, const topology& where);

/// The whole text taken as a number from 0 to `max_id`, or -1.
[[nodiscard]] int number_of(std::string_view text) noexcept;

/// Removes the text up to `separator` (or all of it) from the front of `rest` and returns it.
[[nodiscard]] std::string_view take_until(std::string_view& rest, char separator) noexcept;

} // namespace nodewise::spec
