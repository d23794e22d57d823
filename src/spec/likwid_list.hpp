// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Lists of processors as likwid-pin -c reads them: "S0:0-3@S1:0-3", "E:N:4:2:4", "M:scatter".
#pragma once

#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

#include "spec/node_purpose.hpp"
#include "spec/system_files.hpp"

namespace nodewise::spec {

[[nodiscard]] bool is_likwid_text(std::string_view text) noexcept;

// Throw as `resolve_cpus` and `resolve_nodes` do.
[[nodiscard]] std::vector<cpu_id> likwid_cpus(std::string_view text, const topology& where,
                                              const system_files& files);
/// The nodes of these processors; for a list of M domains only ("M0@M1") the nodes themselves,
/// which may have no processors.
[[nodiscard]] node_set likwid_nodes(std::string_view text, const topology& where,
                                    node_purpose purpose, const system_files& files);

} // namespace nodewise::spec
