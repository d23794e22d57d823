// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Devices and caches that a text names and a machine value lacks: read on demand from the files of
// the system that the value describes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/machine.hpp>

namespace nodewise::spec {

class system_files {
 public:
  /// `root` is "/" or a recorded tree. "/" has files only for the running system: not for a machine
  /// that is recorded, synthetic or has another name.
  system_files(std::string_view root, const machine& of);

  /// The node of a device, by its folder: "/sys/class/net/eth0", "/sys/bus/pci/devices/ADDRESS",
  /// "/sys/dev/block/8:1". Uses the nearest folder upwards that names a node. nullopt if there is
  /// no such device; `unknown_node` if no folder names one.
  [[nodiscard]] std::optional<node_id> node_of_device(const std::string& folder) const;

  /// The caches of these processors: level, kind and the processors that share them.
  [[nodiscard]] std::vector<cache> caches_of(const cpu_set& cpus) const;

  /// The nodes whose processors are nearest to a node without any (HMAT); empty if unknown.
  [[nodiscard]] node_set initiators_of(node_id node) const;

 private:
  std::string prefix_; ///< the root without its final slash
  bool there_ = false;
};

} // namespace nodewise::spec
