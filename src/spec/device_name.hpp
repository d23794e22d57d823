// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Devices as numactl names them ("netdev:eth0", "pci:0000:3b:00.0", "block:sda", "file:/data/x"),
// as we do ("near:netdev=eth0") and as hwloc does ("os=eth0", "pci=0000:3b:00.0").
#pragma once

#include <optional>
#include <string_view>

#include <nodewise/topology.hpp>

#include "spec/system_files.hpp"

namespace nodewise::spec {

struct device_name {
  std::size_t kind = 0; ///< the row of the table of prefixes
  std::string_view name;
};

/// The device that a text names with one of the prefixes; nullopt if it begins with none. Throws
/// `error` (usage) for "near:" with an unknown kind.
[[nodiscard]] std::optional<device_name> read_device_name(std::string_view text);

/// Whether it begins with one of the prefixes or "near:".
[[nodiscard]] bool names_device(std::string_view text) noexcept;

/// The same for hwloc's words: "os" (any device of the machine value, or a network or block device
/// of the system) and "pci".
[[nodiscard]] std::optional<device_name> hwloc_device_name(std::string_view word,
                                                           std::string_view name);

/// The nodes nearest to the device. Throws `error` (usage) if there is no such device or its nodes
/// are unknown.
[[nodiscard]] node_set nodes_near(const device_name& device, const topology& where,
                                  const system_files& files);

} // namespace nodewise::spec
