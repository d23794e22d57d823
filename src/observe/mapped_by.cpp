// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/mapped_by.hpp"

#include <algorithm>
#include <filesystem>

#include <unistd.h>

#include <fmt/core.h>

#include "base/text.hpp"
#include "observe/proc_text.hpp"
#include "sys/process.hpp"
#include "topology/small_file.hpp"

namespace nodewise::observe {

namespace {

bool has_mapped(sys::process& process, const std::string& path) {
  const auto maps = process.read_file("maps");
  if (!maps || maps.value.find(path) == std::string::npos) {
    return false;
  }
  const std::vector<mapping> all = parse_maps(maps.value);
  return std::ranges::find(all, path, &mapping::path) != all.end();
}

} // namespace

std::vector<std::string> mapped_by(const std::string& path, std::size_t most) {
  std::vector<std::string> found;
  std::error_code none;
  // By name: the device numbers of overlay file systems differ between stat and the mappings.
  const std::string whole = std::filesystem::canonical(path, none).string();
  if (none) {
    return found;
  }
  for (const int pid :
       topology_detail::numbered_entries("/proc", "").value_or(std::vector<int>{})) {
    const auto process = sys::real_process(pid);
    if (found.size() < most && pid != ::getpid() && has_mapped(*process, whole)) {
      const auto name = process->read_file("comm");
      found.push_back(fmt::format("{} ({})", pid, name ? printable(name.value) : "?"));
    }
  }
  return found;
}

} // namespace nodewise::observe
