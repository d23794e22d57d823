// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "topology/recorded_cpuset.hpp"

#include <array>
#include <string_view>

#include "topology/small_file.hpp"

namespace nodewise::topology_detail {

namespace {

bool has_word(std::string_view words, char separator, std::string_view wanted) {
  while (!words.empty()) {
    if (take_until(words, separator) == wanted) {
      return true;
    }
  }
  return false;
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
  const auto mounts = read_record_file(prefix + "/proc/mounts");
  std::string_view rest = mounts ? std::string_view(*mounts) : std::string_view{};
  while (!rest.empty()) {
    if (auto found = cpuset_mount_of(prefix, take_until(rest, '\n'))) {
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
  const auto groups = read_record_file(prefix + "/proc/self/cgroup");
  std::string_view rest = groups ? std::string_view(*groups) : std::string_view{};
  while (!rest.empty()) {
    std::string_view line = take_until(rest, '\n');
    (void)take_until(line, ':');
    const std::string_view controllers = take_until(line, ':');
    if (controllers.empty() || controllers == "cpuset") {
      return std::string(line);
    }
  }
  return std::nullopt;
}

} // namespace

allowance allowance_from_status(const std::string& prefix) {
  allowance allowed;
  const std::string path = prefix + "/proc/self/status";
  const auto status = read_small_file(path);
  if (!status) {
    return allowed;
  }
  const auto value_of = [&](std::string_view key) -> std::optional<std::string_view> {
    const std::size_t at = status->find(key);
    if (at == std::string::npos) {
      return std::nullopt;
    }
    std::string_view rest = std::string_view(*status).substr(at + key.size());
    return take_until(rest, '\n');
  };
  if (const auto cpus = value_of("\nCpus_allowed_list:\t")) {
    allowed.cpus = parse_list<cpu_id>(*cpus, path);
  }
  if (const auto nodes = value_of("\nMems_allowed_list:\t")) {
    allowed.nodes = parse_list<node_id>(*nodes, path);
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
  allowed.cpus = read_list<cpu_id>(group + std::string(mount->cpus_file));
  allowed.nodes = read_list<node_id>(group + std::string(mount->nodes_file));
  return allowed;
}

} // namespace nodewise::topology_detail
