// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Devices as numactl names them ("netdev:eth0", "pci:0000:3b:00.0", "block:sda", "file:/data/x"),
// as we do ("near:netdev=eth0") and as hwloc does ("os=eth0", "pci=0000:3b:00.0").
#pragma once

#include <nodewise/topology.hpp>

namespace nodewise::spec {

/// Devices and caches that a text names and a machine value lacks: read on demand from the files of
/// the system that the value describes.
class system_files {
 public:
  /// `root` is "/" or a recorded tree. "/" has files only for the running system: not for a machine
  /// that is recorded, synthetic or has another name.
  system_files(std::string_view root, const machine& of);

  /// The node of a device, by its folder: "/sys/class/net/eth0", "/sys/bus/pci/devices/ADDRESS",
  /// "/sys/dev/block/8:1". Uses the nearest folder upwards that names a node. nullopt if there is
  /// no such device; `unknown_node` if no folder names one.
  [[nodiscard]] std::optional<node_id> node_of_device(const std::string& folder) const;

  /// The PCI devices of this kind ("gpu", "fabric") with the node that their folder names; virtual
  /// functions are left out if their device is there.
  [[nodiscard]] std::vector<device> devices_of(std::string_view kind) const;

  /// The caches of these processors: level, kind and the processors that share them.
  [[nodiscard]] std::vector<cache> caches_of(const cpu_set& cpus) const;

  /// The nodes whose processors are nearest to a node without any (HMAT); empty if unknown.
  [[nodiscard]] node_set initiators_of(node_id node) const;

 private:
  std::string prefix_; ///< the root without its final slash
  bool there_ = false;
};

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
