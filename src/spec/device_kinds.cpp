// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "spec/device_kinds.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>

#include "spec/devices.hpp"

namespace nodewise::spec {

std::vector<device> devices_of_kind(std::string_view kind, const topology& where,
                                    std::string_view root) {
  std::vector<device> found;
  std::ranges::copy_if(where.machine().devices, std::back_inserter(found),
                       [&](const device& each) { return each.kind == kind; });
  if (found.empty()) {
    found = system_files(root, where.machine()).devices_of(kind);
  }
  const auto order = [](const device& each) {
    return std::tuple(each.bus.empty(), std::string_view(each.bus), std::string_view(each.name));
  };
  std::ranges::sort(found, {}, order);
  const auto repeated = std::ranges::unique(found, [](const device& one, const device& other) {
    return !one.bus.empty() && one.bus == other.bus; // one GPU is card0 and renderD128
  });
  found.erase(repeated.begin(), repeated.end());
  for (device& each : found) {
    each.nodes = each.nodes & where.machine().node_ids();
    if (each.nodes.empty() && where.machine().nodes.size() == 1) {
      each.nodes = where.machine().node_ids();
    }
  }
  return found;
}

} // namespace nodewise::spec
