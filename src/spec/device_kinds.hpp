// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// All devices of a kind, for programs of which each process has its own.
#pragma once

#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

namespace nodewise::spec {

/// The devices of a kind, "gpu" or "fabric", by PCI address and each once: those of the machine
/// value, or if it has none, those of the system (see `resolve_cpus` for `root`). `device::nodes`
/// is empty if they are unknown.
[[nodiscard]] std::vector<device> devices_of_kind(std::string_view kind, const topology& where,
                                                  std::string_view root = "/");

} // namespace nodewise::spec
