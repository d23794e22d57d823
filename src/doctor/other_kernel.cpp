// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/other_kernel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

namespace nodewise::doctor {

sys::answer<void*> reading_kernel::map(std::size_t /*bytes*/, sys::access /*how*/, int /*extra*/) {
  return {nullptr, ENOSYS};
}
int reading_kernel::unmap(void* /*start*/, std::size_t /*bytes*/) {
  return ENOSYS;
}
int reading_kernel::madvise(void* /*start*/, std::size_t /*bytes*/, int /*advice*/) {
  return ENOSYS;
}
int reading_kernel::mbind(void* /*start*/, std::size_t /*bytes*/, sys::policy /*mode*/,
                          const node_set& /*nodes*/, unsigned /*flags*/) {
  return ENOSYS;
}
int reading_kernel::mincore(void* /*start*/, std::size_t /*bytes*/,
                            std::span<unsigned char> /*resident*/) {
  return ENOSYS;
}
int reading_kernel::query_pages(std::span<void* const> /*pages*/, std::span<int> /*status*/) {
  return ENOSYS;
}
int reading_kernel::move_pages(std::span<void* const> /*pages*/, std::span<const int> /*nodes*/,
                               std::span<int> /*status*/) {
  return ENOSYS;
}
sys::answer<node_id> reading_kernel::node_of_page(void* /*page*/) {
  return {unknown_node, ENOSYS};
}
int reading_kernel::set_mempolicy(sys::policy /*mode*/, const node_set& /*nodes*/) {
  return ENOSYS;
}
sys::answer<sys::policy> reading_kernel::get_mempolicy() {
  return {sys::policy::system_default, ENOSYS};
}
sys::answer<cpu_set> reading_kernel::get_affinity(int /*tid*/) {
  return {{}, ENOSYS};
}
int reading_kernel::set_affinity(int /*tid*/, const cpu_set& /*cpus*/) {
  return ENOSYS;
}
sys::answer<cpu_id> reading_kernel::current_cpu() {
  return {cpu_id{0}, ENOSYS};
}
std::size_t reading_kernel::base_page_bytes() {
  return 0;
}
std::size_t reading_kernel::thp_bytes() {
  return 0;
}
int reading_kernel::write_file(const char* /*path*/, std::string_view /*text*/) {
  return ENOSYS;
}

namespace {

/// Parses the kernel's words (mpol_to_str) and ignores suffixes such as ":0-1" and "=static:0".
std::optional<sys::policy> policy_of(std::string_view words) {
  constexpr std::array<std::pair<std::string_view, sys::policy>, 7> names = {{
      {"default", sys::policy::system_default},
      {"local", sys::policy::local},
      {"prefer (many)", sys::policy::preferred_many},
      {"prefer", sys::policy::preferred},
      {"bind", sys::policy::bind},
      {"interleave", sys::policy::interleave},
      {"weighted interleave", sys::policy::weighted_interleave},
  }};
  for (const auto& [name, policy] : names) {
    if (words.starts_with(name)) {
      return policy;
    }
  }
  return std::nullopt;
}

} // namespace

sys::answer<std::string> process_kernel::read_file(const char* path) {
  constexpr std::string_view own = "/proc/self/";
  const std::string_view asked = path;
  if (!asked.starts_with(own)) {
    return system_.read_file(path);
  }
  auto text = process_.read_file(std::string(asked.substr(own.size())));
  if (text.value.ends_with('\n')) {
    text.value.pop_back();
  }
  return text;
}

sys::answer<sys::policy> process_kernel::get_mempolicy() {
  const auto maps = process_.read_file("numa_maps");
  if (!maps) {
    return {sys::policy::system_default, maps.errno_value};
  }
  std::string_view rest = maps.value;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos || line.find(" stack") == std::string_view::npos) {
      continue;
    }
    if (const auto policy = policy_of(line.substr(blank + 1))) {
      return {*policy, 0};
    }
  }
  return {sys::policy::system_default, ENOENT};
}

recorded_kernel::recorded_kernel(const topology& what) {
  const machine& all = what.machine();
  node_set with_memory;
  node_set with_cpus;
  for (const memory_node& node : all.nodes) {
    if (node.memory_bytes != 0) {
      with_memory.insert(node.id);
    }
    if (!node.cpus.empty()) {
      with_cpus.insert(node.id);
    }
  }
  const std::string nodes = "/sys/devices/system/node/";
  files_[nodes + "online"] = all.node_ids().to_string();
  files_[nodes + "has_memory"] = with_memory.to_string();
  files_[nodes + "has_cpu"] = with_cpus.to_string();
  files_["/sys/devices/system/cpu/online"] = all.cpus().to_string();
  files_["/proc/self/status"] = "Cpus_allowed_list:\t" + what.allowed_cpus().to_string() +
                                "\nMems_allowed_list:\t" + what.allowed_nodes().to_string();
}

sys::answer<std::string> recorded_kernel::read_file(const char* path) {
  const auto found = files_.find(std::string_view(path));
  return found == files_.end() ? sys::answer<std::string>{{}, ENOENT}
                               : sys::answer<std::string>{found->second, 0};
}

} // namespace nodewise::doctor
