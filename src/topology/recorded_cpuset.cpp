// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "topology/recorded_cpuset.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "base/split.hpp"
#include "topology/small_file.hpp"

namespace nodewise::topology_detail {

namespace {

bool has_word(std::string_view words, char separator, std::string_view wanted) {
  return std::ranges::count(split(words, separator), wanted) != 0;
}

/// Where a cpuset controller is mounted, and the names of its two files.
struct cpuset_mount {
  std::string directory;
  std::string_view cpus_file;
  std::string_view nodes_file;
};

/// One line of /proc/mounts: device, directory, type, options, ...
std::optional<cpuset_mount> cpuset_mount_of(const std::string& prefix, std::string_view line) {
  (void)take_until(line, ' ');
  const std::string directory(take_until(line, ' '));
  const std::string_view type = take_until(line, ' ');
  const std::string_view options = take_until(line, ' ');
  if (type == "cgroup2") {
    const auto controllers = read_small_file(prefix + directory + "/cgroup.controllers");
    if (controllers && has_word(*controllers, ' ', "cpuset")) {
      return cpuset_mount{directory, "/cpuset.cpus.effective", "/cpuset.mems.effective"};
    }
  } else if (type == "cpuset") {
    return cpuset_mount{directory, "/cpus", "/mems"};
  } else if (type == "cgroup" && has_word(options, ',', "cpuset")) {
    return has_word(options, ',', "noprefix")
               ? cpuset_mount{directory, "/cpus", "/mems"}
               : cpuset_mount{directory, "/cpuset.cpus", "/cpuset.mems"};
  }
  return std::nullopt;
}

std::optional<cpuset_mount> find_cpuset_mount(const std::string& prefix) {
  const std::string mounts = read_record_file(prefix + "/proc/mounts").value_or("");
  for (const std::string_view line : split(mounts, '\n')) {
    if (auto found = cpuset_mount_of(prefix, line)) {
      return found;
    }
  }
  return std::nullopt;
}

/// The group of the recorded process: /proc/self/cpuset, else a line "9:cpuset:/name" (v1) or
/// "0::/name" (v2) of /proc/self/cgroup.
std::optional<std::string> cpuset_name(const std::string& prefix) {
  if (auto name = read_small_file(prefix + "/proc/self/cpuset"); name && !name->empty()) {
    return name;
  }
  const std::string groups = read_record_file(prefix + "/proc/self/cgroup").value_or("");
  for (const std::string_view line : split(groups, '\n')) {
    std::string_view name = line;
    (void)take_until(name, ':');
    const std::string_view controllers = take_until(name, ':');
    if (!line.empty() && (controllers.empty() || controllers == "cpuset")) {
      return std::string(name);
    }
  }
  return std::nullopt;
}

} // namespace

allowance allowance_from_status(const std::string& prefix) {
  allowance allowed;
  const std::string path = prefix + "/proc/self/status";
  const std::string status = read_small_file(path).value_or("");
  for (std::string_view line : split(status, '\n')) {
    const std::string_view key = take_until(line, '\t');
    if (key == "Cpus_allowed_list:") {
      allowed.cpus = parse_list<cpu_id>(line, path);
    } else if (key == "Mems_allowed_list:") {
      allowed.nodes = parse_list<node_id>(line, path);
    }
  }
  return allowed;
}

allowance allowance_from_cgroup(const std::string& prefix) {
  allowance allowed;
  const auto mount = find_cpuset_mount(prefix);
  const auto name = mount ? cpuset_name(prefix) : std::nullopt;
  if (!name) {
    return allowed;
  }
  const std::string group = prefix + mount->directory + *name;
  allowed.cpus = read_list<cpu_id>(fmt::format("{}{}", group, mount->cpus_file));
  allowed.nodes = read_list<node_id>(fmt::format("{}{}", group, mount->nodes_file));
  return allowed;
}

} // namespace nodewise::topology_detail
