// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/examine.hpp"

#include "topology/part_sets.hpp"

namespace nodewise::doctor {

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
  const auto* const found = std::ranges::find_if(
      names, [words](const auto& each) { return words.starts_with(each.first); });
  return found == names.end() ? std::nullopt : std::optional(found->second);
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
  for (const std::string_view line : split(maps.value, '\n')) {
    const bool is_stack = line.find(" stack") != std::string_view::npos;
    const auto policy = is_stack ? policy_of(line.substr(line.find(' ') + 1)) : std::nullopt;
    if (policy) {
      return {*policy, 0};
    }
  }
  return {sys::policy::system_default, ENOENT};
}

recorded_kernel::recorded_kernel(const topology& what) {
  const machine& all = what.machine();
  const node_set with_memory = nodes_if(all, &memory_node::memory_bytes);
  const node_set with_cpus = nodes_if(all, [](const auto& node) { return !node.cpus.empty(); });
  const std::string nodes = "/sys/devices/system/node/";
  files_[nodes + "online"] = all.node_ids().to_string();
  files_[nodes + "has_memory"] = with_memory.to_string();
  files_[nodes + "has_cpu"] = with_cpus.to_string();
  files_["/sys/devices/system/cpu/online"] = all.cpus().to_string();
  files_["/proc/self/status"] =
      fmt::format("Cpus_allowed_list:\t{}\nMems_allowed_list:\t{}", what.allowed_cpus().to_string(),
                  what.allowed_nodes().to_string());
}

sys::answer<std::string> recorded_kernel::read_file(const char* path) {
  const auto found = files_.find(std::string_view(path));
  return found == files_.end() ? sys::answer<std::string>{{}, ENOENT}
                               : sys::answer<std::string>{found->second, 0};
}

} // namespace nodewise::doctor
