// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// topology::from_sysfs: every `nodewise run` calls it, so it opens only files that the answer
// needs. If the kernel or its firmware reports nonsense, it decides as hwloc does.
#include <cerrno>

#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/text.hpp"
#include "topology/part_sets.hpp"
#include "topology/small_file.hpp"

namespace nodewise::inline v0 {

namespace {

using namespace topology_detail;

/// What a process may use: from /proc/self/status if it is running, from its cgroup if recorded.
/// nullopt: nothing is recorded, so everything is allowed.
struct allowance {
  std::optional<cpu_set> cpus;
  std::optional<node_set> nodes;
};

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

/// `Cpus_allowed_list` and `Mems_allowed_list`: the cgroup's cpuset and the affinity mask combined,
/// as the kernel applies them. `prefix` is the root without its final slash.
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

/// From the cpuset files of the recorded cgroup (v2, v1, or the cpuset file system before them).
allowance allowance_from_cgroup(const std::string& prefix) {
  const auto mount = find_cpuset_mount(prefix);
  const auto name = mount ? cpuset_name(prefix) : std::nullopt;
  if (!name) {
    return {};
  }
  const std::string group = prefix + mount->directory + *name;
  return {read_list<cpu_id>(fmt::format("{}{}", group, mount->cpus_file)),
          read_list<node_id>(fmt::format("{}{}", group, mount->nodes_file))};
}

class sysfs_reader {
 public:
  explicit sysfs_reader(std::string root) : prefix_(std::move(root)) {
    while (prefix_.ends_with('/')) {
      prefix_.pop_back();
    }
    cpu_directory_ = prefix_ + "/sys/devices/system/cpu";
    node_directory_ = prefix_ + "/sys/devices/system/node";
  }

  [[nodiscard]] topology read(sysfs_detail detail) {
    online_ = online_cpus();
    describe();
    read_nodes(detail == sysfs_detail::all);
    if (detail != sysfs_detail::nodes) {
      read_cores();
    }
    if (detail == sysfs_detail::all) {
      read_packages();
    }
    allowance allowed = allowance_from_status(prefix_);
    if (!is_live() && !allowed.cpus) {
      allowed = allowance_from_cgroup(prefix_);
    }
    cpu_set cpus = allowed.cpus.value_or(online_);
    node_set nodes = allowed.nodes.value_or(machine_.node_ids());
    return {std::move(machine_), std::move(cpus), std::move(nodes)};
  }

 private:
  [[nodiscard]] bool is_live() const noexcept { return prefix_.empty(); }

  [[nodiscard]] std::string cpu_file(cpu_id cpu, std::string_view name) const {
    return fmt::format("{}/cpu{}/{}", cpu_directory_, cpu, name);
  }
  [[nodiscard]] std::string node_file(node_id node, std::string_view name) const {
    return fmt::format("{}/node{}/{}", node_directory_, node, name);
  }

  void describe() {
    utsname system{};
    if (is_live() && ::uname(&system) == 0) {
      machine_.name = system.nodename;
      machine_.source = fmt::format("sysfs of {} {}", system.sysname, system.release);
    } else {
      machine_.name = prefix_.substr(prefix_.rfind('/') + 1);
      machine_.source = "a recorded sysfs";
    }
  }

  [[nodiscard]] cpu_set online_cpus() const {
    if (auto online = read_list<cpu_id>(cpu_directory_ + "/online"); online && !online->empty()) {
      return *std::move(online);
    }
    const auto numbers = numbered_entries(cpu_directory_, "cpu");
    if (!numbers) {
      throw error(is_live() ? error_kind::system : error_kind::input,
                  "the processors of " + (is_live() ? "this machine" : "the tree " + prefix_),
                  "cannot read " + cpu_directory_,
                  is_live() ? "mount sysfs on /sys"
                            : "name the root of a tree that has sys/devices/system",
                  errno);
    }
    // Before Linux 2.6.28 each processor has an online file; processors that never existed do not.
    cpu_set online;
    for (const int number : *numbers) {
      const cpu_id cpu{number};
      const auto state = read_small_file(cpu_file(cpu, "online"));
      if ((!state || *state != "0") && ::access(cpu_file(cpu, "topology").c_str(), F_OK) == 0) {
        online.insert(cpu);
      }
    }
    return online;
  }

  // Nodes.

  [[nodiscard]] std::optional<node_set> online_nodes() const {
    if (auto online = read_list<node_id>(node_directory_ + "/online"); online && !online->empty()) {
      return online;
    }
    const auto numbers = numbered_entries(node_directory_, "node");
    if (!numbers || numbers->empty()) {
      return std::nullopt;
    }
    node_set nodes;
    for (const int number : *numbers) {
      nodes.insert(node_id{number});
    }
    return nodes;
  }

  void read_nodes(bool with_distances) {
    const auto listed = online_nodes();
    if (!listed) {
      machine_.nodes.push_back({node_id{0}, online_, memory_in(prefix_ + "/proc/meminfo")});
      machine_.notes.emplace_back("the kernel has no NUMA support: one node represents all memory");
      return;
    }
    cpu_set claimed;
    for (const node_id node : *listed) {
      read_node(node, claimed);
    }
    // If a node was left out, the table's columns cannot be assigned to nodes.
    if (with_distances && machine_.nodes.size() == listed->size() && listed->size() > 1) {
      read_distances();
    }
  }

  void read_node(node_id node, cpu_set& claimed) {
    auto cpus = read_list<cpu_id>(node_file(node, "cpulist"));
    if (!cpus) {
      cpus = read_mask(node_file(node, "cpumap"));
    }
    if (!cpus || cpus->intersects(claimed)) {
      machine_.notes.push_back(fmt::format("node {} is skipped: {}", node,
                                           cpus ? "it claims processors of earlier nodes"
                                                : "the kernel does not report its processors"));
      return;
    }
    claimed = std::move(claimed) | *cpus;
    machine_.nodes.push_back({node, *cpus & online_, memory_in(node_file(node, "meminfo"))});
  }

  /// "Node 0 MemTotal:  16772456 kB", in bytes.
  [[nodiscard]] static std::uint64_t memory_in(const std::string& path) {
    const std::string text = read_small_file(path).value_or("");
    constexpr std::string_view key = "MemTotal:";
    const std::size_t at = text.find(key);
    return at == std::string::npos
               ? 0
               : leading_number(std::string_view(text).substr(at + key.size())).value_or(0) << 10;
  }

  void read_distances() {
    std::vector<std::vector<int>> rows;
    for (const memory_node& node : machine_.nodes) {
      const std::string text = read_small_file(node_file(node.id, "distance")).value_or("");
      std::vector<int>& row = rows.emplace_back();
      for (const std::string_view word : split(text, ' ')) {
        const auto value = leading_number(word);
        row.push_back(value && *value <= max_id ? static_cast<int>(*value) : -1);
      }
      if (row.size() != machine_.nodes.size() || std::ranges::count(row, -1) != 0) {
        machine_.notes.emplace_back("distances are skipped: the kernel's table is incomplete");
        return;
      }
    }
    machine_.distances = std::move(rows);
    drop_senseless_distances(machine_);
  }

  // Cores and packages: one read per core or package, not per processor, because a file names all
  // siblings.

  [[nodiscard]] std::optional<cpu_set> siblings(cpu_id cpu, const char* newer,
                                                const char* older) const {
    auto cpus = read_mask(cpu_file(cpu, newer));
    return cpus ? cpus : read_mask(cpu_file(cpu, older));
  }

  /// Takes the first processor and those of its siblings that are left out of `rest`.
  [[nodiscard]] static cpu_set take_group(cpu_set& rest, const std::optional<cpu_set>& siblings) {
    cpu_set group = siblings.value_or(cpu_set{}) & rest;
    group.insert(rest.first());
    rest = std::move(rest) - group;
    return group;
  }

  void read_cores() {
    if (read_small_file(cpu_directory_ + "/smt/active") == "0") {
      for (const cpu_id cpu : online_) {
        machine_.cores.push_back({{cpu}});
      }
      return;
    }
    for (cpu_set rest = online_; !rest.empty();) {
      const auto all = siblings(rest.first(), "topology/thread_siblings", "topology/core_cpus");
      machine_.cores.push_back({take_group(rest, all)});
    }
  }

  void read_packages() {
    for (cpu_set rest = online_; !rest.empty();) {
      const cpu_id first = rest.first();
      const auto all = siblings(first, "topology/core_siblings", "topology/package_cpus");
      if (!all) {
        return; // some architectures have none
      }
      const auto number = leading_number(
          read_small_file(cpu_file(first, "topology/physical_package_id")).value_or(""));
      machine_.packages.push_back(
          {number && *number <= max_id ? static_cast<int>(*number) : -1, take_group(rest, all)});
    }
  }

  std::string prefix_; ///< the root without its final slash: empty for the running system
  std::string cpu_directory_;
  std::string node_directory_;
  cpu_set online_;
  nodewise::machine machine_;
};

} // namespace

topology topology::from_sysfs(const std::string& root, sysfs_detail detail) {
  return sysfs_reader(root).read(detail);
}

} // namespace nodewise::inline v0
