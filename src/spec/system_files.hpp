// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a machine value leaves out and a text may name: devices and caches, from the files of the
// system that the value describes, when they are asked for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/machine.hpp>

namespace nodewise::spec {

class system_files {
 public:
  /// `root` is "/" or a recorded tree. The running system answers only for itself: with "/" there
  /// are no files for a machine that was recorded, made up or is another one by its name.
  system_files(std::string_view root, const machine& of);

  [[nodiscard]] bool there() const noexcept { return there_; }

  /// The node of a device, by its folder: "/sys/class/net/eth0", "/sys/bus/pci/devices/ADDRESS",
  /// "/sys/dev/block/8:1". The nearest folder above it that knows a node answers. nullopt if there
  /// is no such device; `unknown_node` if nobody says.
  [[nodiscard]] std::optional<node_id> node_of_device(const std::string& folder) const;

  /// The caches of these processors: level, kind and who shares them.
  [[nodiscard]] std::vector<cache> caches_of(const cpu_set& cpus) const;

  /// The nodes whose processors are nearest to a node that has none (HMAT); empty if nobody says.
  [[nodiscard]] node_set initiators_of(node_id node) const;

 private:
  std::string prefix_; ///< the root without its final slash
  bool there_ = false;
};

} // namespace nodewise::spec
