// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Lists of nodes and processors as numactl reads them: "0-3,8", "+0" (counted among those that this
// process may use), "!0" (all that it may use except these), "all".
#pragma once

#include <string_view>

#include <nodewise/topology.hpp>

#include "spec/node_purpose.hpp"

namespace nodewise::spec {

[[nodiscard]] node_set numactl_nodes(std::string_view text, const topology& where,
                                     node_purpose purpose);
[[nodiscard]] cpu_set numactl_cpus(std::string_view text, const topology& where);

} // namespace nodewise::spec
