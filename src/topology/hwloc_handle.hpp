// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Loads hwloc topologies. Only the files hwloc_* of this folder use hwloc.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <hwloc.h>

namespace nodewise::topology_detail {

struct hwloc_destroy {
  void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};
using hwloc_handle = std::unique_ptr<hwloc_topology, hwloc_destroy>;

// All throw `error`. Disallowed processors and nodes are kept, as are instruction caches and the
// devices that hwloc calls important.

/// This machine, or the one that HWLOC_XMLFILE or a similar variable puts in its place. Leaves out
/// the memory of NVIDIA's GPUs, unless a variable asks for it: hwloc's interface has no option for
/// it, and the library sets no variable.
[[nodiscard]] hwloc_handle load_system();
[[nodiscard]] hwloc_handle load_xml(const std::filesystem::path& file);
/// Text that hwloc has written; `asked` is for the error.
[[nodiscard]] hwloc_handle load_xml_text(const std::string& text, const std::string& asked);
/// A recorded file-system root. Sets environment variables during the call, because hwloc has no
/// other setting for it: do not call it while another thread reads the environment.
[[nodiscard]] hwloc_handle load_sysfs(const std::filesystem::path& root);
/// "4x2", "4x2x2" or hwloc's own syntax.
[[nodiscard]] hwloc_handle load_synthetic(std::string_view spec);

} // namespace nodewise::topology_detail
