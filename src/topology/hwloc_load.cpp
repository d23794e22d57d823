// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "topology/hwloc_handle.hpp"
#include "topology/json_field.hpp"
#include "topology/synthetic_spec.hpp"

namespace nodewise::topology_detail {

namespace {

/// Changes an environment variable until it is destroyed. Only for use where the caller has
/// promised that no other thread reads the environment meanwhile.
class scoped_variable {
 public:
  scoped_variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) {
      before_ = before;
    }
    ::setenv(name, value, 1);
  }
  scoped_variable(const scoped_variable&) = delete;
  scoped_variable& operator=(const scoped_variable&) = delete;
  ~scoped_variable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

hwloc_handle empty_topology() {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) {
    throw error(error_kind::system, "cannot create an hwloc topology", "hwloc failed",
                "free some memory", errno);
  }
  hwloc_handle topology(made);
  hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_type_filter(made, HWLOC_OBJ_MEMCACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_icache_types_filter(made, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  // Starting a GPU's run-time library takes half a second, and the PCI bus shows GPUs, too.
  for (const char* const library : {"cuda", "gl", "levelzero", "nvml", "opencl", "rsmi"}) {
    hwloc_topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, library);
  }
  return topology;
}

/// Checks the file before hwloc reads it, because hwloc does not report what is wrong.
void check_readable(const std::filesystem::path& file) {
  const std::string asked = fmt::format("the machine recorded in {}", file.string());
  std::error_code code;
  const auto status = std::filesystem::status(file, code);
  if (code || !std::filesystem::exists(status)) {
    throw error(error_kind::input, asked, "the file cannot be read", "check the name of the file",
                code ? code.value() : ENOENT);
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw error(error_kind::input, asked, "it is not a regular file",
                "name a file written by `lstopo file.xml`");
  }
  if (std::filesystem::file_size(file, code) > largest_machine_file) {
    throw error(error_kind::input, asked, "the file is larger than 16 MiB",
                "name a file written by `lstopo file.xml`");
  }
}

} // namespace

hwloc_handle load_system() {
  hwloc_handle topology = empty_topology();
  if (hwloc_topology_load(topology.get()) != 0) {
    throw error(error_kind::system, "cannot read the topology of this machine", "hwloc failed",
                "check what `lstopo` reports, and that /sys and /proc are mounted", errno);
  }
  return topology;
}

hwloc_handle load_xml(const std::filesystem::path& file) {
  check_readable(file);
  hwloc_handle topology = empty_topology();
  errno = 0;
  if (hwloc_topology_set_xml(topology.get(), file.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw error(error_kind::input, fmt::format("the machine recorded in {}", file.string()),
                "hwloc cannot read it: not XML, not written by hwloc 2, or truncated",
                "write it again with `lstopo file.xml` of hwloc 2.0 or newer");
  }
  return topology;
}

hwloc_handle load_xml_text(const std::string& text, const std::string& asked) {
  hwloc_handle topology = empty_topology();
  const auto bytes = static_cast<int>(text.size() + 1); // with the final zero
  if (hwloc_topology_set_xmlbuffer(topology.get(), text.c_str(), bytes) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw error(error_kind::system, asked, "hwloc cannot read its own output",
                "check what `lstopo -.xml` prints, and report it");
  }
  return topology;
}

hwloc_handle load_sysfs(const std::filesystem::path& root) {
  static std::mutex one_at_a_time; // so that each call restores what it found
  const std::scoped_lock lock(one_at_a_time);
  /// The memory of a GPU is a NUMA node like any other: programs find pages there.
  const scoped_variable gpu_memory("HWLOC_KEEP_NVIDIA_GPU_NUMA_NODES", "1");
  const scoped_variable fsroot("HWLOC_FSROOT", root.c_str());
  const scoped_variable components("HWLOC_COMPONENTS", "linux,stop");
  hwloc_handle topology = empty_topology();
  if (!std::filesystem::exists(root / "sys/devices/system/cpu") ||
      hwloc_topology_load(topology.get()) != 0) {
    throw error(error_kind::input, fmt::format("the machine recorded under {}", root.string()),
                "hwloc finds no processors there",
                "name the root of a tree that has sys/devices/system");
  }
  return topology;
}

hwloc_handle load_synthetic(std::string_view spec) {
  const std::string description = to_hwloc_synthetic(spec);
  hwloc_handle topology = empty_topology();
  if (hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw error(error_kind::usage, fmt::format("the synthetic machine '{}'", spec),
                "hwloc does not understand it",
                "write 4x2 (nodes x cores), 2x8x2 (x threads), or hwloc's syntax, such as "
                "\"numa:2 core:4 pu:1\"; HWLOC_SYNTHETIC_VERBOSE=1 shows what is wrong");
  }
  return topology;
}

} // namespace nodewise::topology_detail
