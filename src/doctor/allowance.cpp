// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/allowance.hpp"

#include "base/numbers.hpp"
#include "doctor/finding.hpp"

namespace nodewise::doctor {

namespace {

/// Version 1 writes "no limit" as the largest number of pages it can hold.
constexpr unsigned long long no_limit = 1ULL << 62;

/// The path after "0::" (version 2, without a controller's name) or after a list of controllers
/// that contains this one (version 1).
std::string_view group_path(std::string_view groups, std::string_view controller) {
  for (const std::string_view line : split(groups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    const auto controllers = split(line.substr(first + 1, second - first - 1), ',');
    if (second != std::string_view::npos && std::ranges::count(controllers, controller) != 0) {
      return line.substr(second + 1);
    }
  }
  return {};
}

/// Where the groups of a controller are; no mount if that cannot be read.
struct hierarchy {
  std::string mount;
  std::string path; ///< of this process's group; empty: it is in none
  bool version_2 = false;
};

hierarchy hierarchy_of(sys::kernel& from, std::string_view controller) {
  const auto groups = from.read_file("/proc/self/cgroup");
  if (!groups) {
    return {};
  }
  const std::string_view v1 = group_path(groups.value, controller);
  if (!v1.empty()) {
    return {"/sys/fs/cgroup/" + std::string(controller), std::string(v1), false};
  }
  return {"/sys/fs/cgroup", std::string(group_path(groups.value, "")), true};
}

/// The folders of the group and of those above it, up to the root. In a container the path may be
/// the host's, and only the root is visible; that root is then the container's own group.
std::vector<std::string> folders_upwards(const hierarchy& groups) {
  std::vector<std::string> folders;
  std::string path = groups.path;
  while (!path.empty() && path != "/") {
    folders.push_back(groups.mount + path);
    path.erase(path.rfind('/'));
  }
  if (!groups.mount.empty()) {
    folders.push_back(groups.mount);
  }
  return folders;
}

/// nullopt for "max".
std::optional<unsigned long long> bytes_in(const sys::answer<std::string>& text) {
  const auto bytes = parse_number<unsigned long long>(text.value);
  return bytes && *bytes < no_limit ? bytes : std::nullopt;
}

/// The files of a memory group, in one of the two versions.
struct memory_files {
  const char* limit;
  const char* use;
  /// In memory.stat; like `use`, for the group and those below it.
  const char* inactive_cache;
  const char* active_cache;
};
constexpr memory_files version_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                 "total_inactive_file", "total_active_file"};
constexpr memory_files version_2{"/memory.max", "/memory.current", "inactive_file", "active_file"};

/// A line "inactive_file 4096" of memory.stat; `no_limit` if there is none.
unsigned long long statistic(std::string_view text, std::string_view name) {
  const auto number = field(text, name, ' ').value_or("");
  return parse_number<unsigned long long>(number).value_or(no_limit);
}

/// The page cache of a group that the kernel evicts before it refuses memory; 0 if memory.stat does
/// not report it. Files of memory file systems do not count.
unsigned long long evictable_bytes(sys::kernel& from, const std::string& group,
                                   const memory_files& names) {
  const auto text = from.read_file((group + "/memory.stat").c_str());
  const unsigned long long inactive = statistic(text.value, names.inactive_cache);
  const unsigned long long active = statistic(text.value, names.active_cache);
  return active < no_limit && inactive < no_limit ? inactive + active : 0;
}

void take_limit(memory_limit& lowest, sys::kernel& from, const std::string& group,
                const memory_files& names) {
  const auto limit = from.read_file((group + names.limit).c_str());
  lowest.readable = lowest.readable || limit;
  const auto most = bytes_in(limit);
  if (!most) {
    return;
  }
  lowest.bytes = std::min(lowest.bytes.value_or(*most), *most);
  if (const auto used = bytes_in(from.read_file((group + names.use).c_str()))) {
    const unsigned long long kept = *used - std::min(*used, evictable_bytes(from, group, names));
    const unsigned long long room = *most - std::min(*most, kept);
    lowest.room_bytes = std::min(lowest.room_bytes.value_or(room), room);
  }
}

/// The root of version 2 has no file for a limit: with a mounted hierarchy that means no limit.
bool is_unlimited_root(sys::kernel& from, const hierarchy& groups) {
  return groups.version_2 && !groups.path.empty() &&
         from.read_file("/sys/fs/cgroup/cgroup.controllers");
}

/// Takes a limit such as "200000 100000", as a number of processors, if it is the lowest so far.
/// "max" and -1 mean no limit.
void take_quota(cpu_quota& lowest, std::string_view quota, std::string_view period) {
  const auto of_time = parse_number<long long>(quota);
  const auto in_time = parse_number<long long>(period);
  lowest.readable = lowest.readable || ((of_time || quota == "max") && in_time && *in_time > 0);
  if (of_time && in_time && *of_time > 0 && *in_time > 0) {
    const double processors = static_cast<double>(*of_time) / static_cast<double>(*in_time);
    lowest.processors = std::min(lowest.processors.value_or(processors), processors);
  }
}

template <class Set>
std::optional<Set> within(const std::optional<Set>& some, const std::optional<Set>& all) {
  return some && all ? std::optional(*some & *all) : some;
}

} // namespace

memory_limit read_memory_limit(sys::kernel& from) {
  const hierarchy groups = hierarchy_of(from, "memory");
  memory_limit lowest;
  for (const std::string& group : folders_upwards(groups)) {
    take_limit(lowest, from, group, groups.version_2 ? version_2 : version_1);
  }
  lowest.readable = lowest.readable || is_unlimited_root(from, groups);
  return lowest;
}

cpu_quota read_cpu_quota(sys::kernel& from) {
  const hierarchy groups = hierarchy_of(from, "cpu");
  cpu_quota lowest;
  for (const std::string& group : folders_upwards(groups)) {
    if (groups.version_2) {
      const auto both = from.read_file((group + "/cpu.max").c_str());
      const std::string_view text = both.value;
      const std::size_t blank = std::min(text.find(' '), text.size());
      take_quota(lowest, text.substr(0, blank), text.substr(std::min(blank + 1, text.size())));
    } else {
      const auto quota = from.read_file((group + "/cpu.cfs_quota_us").c_str());
      const auto period = from.read_file((group + "/cpu.cfs_period_us").c_str());
      take_quota(lowest, quota.value, period.value);
    }
  }
  lowest.readable = lowest.readable || is_unlimited_root(from, groups);
  return lowest;
}

cpuset read_cpuset(sys::kernel& from) {
  const hierarchy groups = hierarchy_of(from, "cpuset");
  const std::string cpus = groups.version_2 ? "/cpuset.cpus.effective" : "/cpuset.effective_cpus";
  const std::string nodes = groups.version_2 ? "/cpuset.mems.effective" : "/cpuset.effective_mems";
  cpuset nearest;
  for (const std::string& group : folders_upwards(groups)) {
    nearest = {read_set<cpu_id>(from, group + cpus), read_set<node_id>(from, group + nodes)};
    if (nearest.cpus || nearest.nodes) {
      break;
    }
  }
  return nearest;
}

std::optional<node_set> allowance::usable_nodes() const {
  const auto& there = nodes_with_memory ? nodes_with_memory : nodes_online;
  return there ? within(there, nodes_allowed) : nodes_allowed;
}

bool allowance::several_nodes() const {
  const auto usable = usable_nodes();
  return !usable || usable->size() > 1;
}

allowance read_allowance(sys::kernel& from) {
  allowance found;
  found.cpus_online = read_set<cpu_id>(from, "/sys/devices/system/cpu/online");
  found.nodes_online = read_set<node_id>(from, "/sys/devices/system/node/online");
  // These files may still list a node that went offline.
  found.nodes_with_memory =
      within(read_set<node_id>(from, "/sys/devices/system/node/has_memory"), found.nodes_online);
  found.nodes_with_cpus =
      within(read_set<node_id>(from, "/sys/devices/system/node/has_cpu"), found.nodes_online);
  const auto status = from.read_file("/proc/self/status");
  found.cpus_allowed =
      within(parse_set<cpu_id>(field(status.value, "Cpus_allowed_list")), found.cpus_online);
  found.nodes_allowed =
      within(parse_set<node_id>(field(status.value, "Mems_allowed_list")), found.nodes_online);
  found.group = read_cpuset(from);
  found.group.cpus = within(found.group.cpus, found.cpus_online);
  found.group.nodes = within(found.group.nodes, found.nodes_online);
  return found;
}

} // namespace nodewise::doctor
