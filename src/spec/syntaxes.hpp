// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// hwloc's and LIKWID's syntaxes of a list. All functions that resolve a list throw as
// `resolve_cpus` and `resolve_nodes` do.
#pragma once

#include "spec/devices.hpp"
#include "spec/numactl_list.hpp"

namespace nodewise::spec {

// Locations as hwloc-calc and hwloc-bind read them: "package:1.core:0-3", "numa[hbm]:0", "~pu:0",
// "0xff", "os=eth0"; several are separated by blanks.

[[nodiscard]] bool is_hwloc_text(std::string_view text) noexcept;
[[nodiscard]] cpu_set hwloc_cpus(std::string_view text, const topology& where,
                                 const system_files& files);
[[nodiscard]] node_set hwloc_nodes(std::string_view text, const topology& where,
                                   node_purpose purpose, const system_files& files);

// Lists of processors as likwid-pin -c reads them: "S0:0-3@S1:0-3", "E:N:4:2:4", "M:scatter".

[[nodiscard]] bool is_likwid_text(std::string_view text) noexcept;
[[nodiscard]] std::vector<cpu_id> likwid_cpus(std::string_view text, const topology& where,
                                              const system_files& files);
/// The nodes of these processors; for a list of M domains only ("M0@M1") the nodes themselves,
/// which may have no processors.
[[nodiscard]] node_set likwid_nodes(std::string_view text, const topology& where,
                                    node_purpose purpose, const system_files& files);

} // namespace nodewise::spec
