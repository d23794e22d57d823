// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Locations as hwloc-calc and hwloc-bind read them: "package:1.core:0-3", "numa[hbm]:0", "~pu:0",
// "0xff", "os=eth0"; several are separated by blanks.
#pragma once

#include <string_view>

#include <nodewise/topology.hpp>

#include "spec/node_purpose.hpp"
#include "spec/system_files.hpp"

namespace nodewise::spec {

[[nodiscard]] bool is_hwloc_text(std::string_view text) noexcept;

// Throw as `resolve_cpus` and `resolve_nodes` do.
[[nodiscard]] cpu_set hwloc_cpus(std::string_view text, const topology& where,
                                 const system_files& files);
[[nodiscard]] node_set hwloc_nodes(std::string_view text, const topology& where,
                                   node_purpose purpose, const system_files& files);

} // namespace nodewise::spec
