// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/mapped_by.hpp"

#include <algorithm>
#include <filesystem>

#include <unistd.h>

#include <fmt/core.h>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "observe/proc_text.hpp"
#include "sys/kernel.hpp"

namespace nodewise::observe {

namespace {

std::vector<int> process_numbers() {
  std::vector<int> all;
  std::error_code none;
  for (const auto& each : std::filesystem::directory_iterator("/proc", none)) {
    if (const auto pid = parse_number<int>(each.path().filename().string())) {
      all.push_back(*pid);
    }
  }
  std::ranges::sort(all);
  return all;
}

bool has_mapped(int pid, const std::string& path) {
  const auto maps = sys::real_kernel().read_file(fmt::format("/proc/{}/maps", pid).c_str());
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
  for (const int pid : process_numbers()) {
    if (found.size() < most && pid != ::getpid() && has_mapped(pid, whole)) {
      const auto name = sys::real_kernel().read_file(fmt::format("/proc/{}/comm", pid).c_str());
      found.push_back(fmt::format("{} ({})", pid, name ? printable(name.value) : "?"));
    }
  }
  return found;
}

} // namespace nodewise::observe
