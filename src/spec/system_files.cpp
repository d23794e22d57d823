// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "spec/system_files.hpp"

#include <climits>
#include <cstdlib>
#include <utility>

#include <sys/utsname.h>

#include <fmt/core.h>

#include "base/parse_number.hpp"
#include "topology/small_file.hpp"

namespace nodewise::spec {

namespace {

using topology_detail::numbered_entries;
using topology_detail::read_mask;
using topology_detail::read_small_file;

/// Whether a reader made this value from the running system and it has the system's name.
bool is_running_system(const machine& of) {
  utsname system{};
  return (of.source.starts_with("sysfs of ") || of.source.starts_with("hwloc ")) &&
         ::uname(&system) == 0 && of.name == system.nodename;
}

std::optional<int> number_in(const std::string& path) {
  return parse_number<int>(read_small_file(path).value_or(""));
}

} // namespace

system_files::system_files(std::string_view root, const machine& of) : prefix_(root) {
  while (prefix_.ends_with('/')) {
    prefix_.pop_back();
  }
  there_ = !prefix_.empty() || is_running_system(of);
}

std::optional<node_id> system_files::node_of_device(const std::string& folder) const {
  char real[PATH_MAX];
  if (!there_ || ::realpath((prefix_ + folder).c_str(), real) == nullptr) {
    return std::nullopt;
  }
  // Walk up: a partition is below its disk, a network interface below its card.
  for (std::string at = real; at.size() > prefix_.size(); at.resize(at.rfind('/'))) {
    if (const auto node = number_in(at + "/numa_node")) {
      return *node < 0 || *node > max_id ? unknown_node : node_id{*node};
    }
  }
  return unknown_node;
}

std::vector<cache> system_files::caches_of(const cpu_set& cpus) const {
  std::vector<cache> found;
  if (!there_) {
    return found;
  }
  constexpr int most_indices = 16;
  for (int index = 0; index < most_indices; ++index) {
    const std::size_t before = found.size();
    for (cpu_set rest = cpus; !rest.empty();) {
      const cpu_id first = rest.first();
      const std::string folder =
          fmt::format("{}/sys/devices/system/cpu/cpu{}/cache/index{}/", prefix_, first, index);
      cache one;
      one.level = number_in(folder + "level").value_or(0);
      one.cpus = read_mask(folder + "shared_cpu_map").value_or(cpu_set{}) & cpus;
      one.cpus.insert(first);
      rest = std::move(rest) - one.cpus;
      if (one.level > 0) {
        const auto kind = read_small_file(folder + "type");
        one.kind = kind == "Instruction" ? cache_kind::instruction
                   : kind == "Data"      ? cache_kind::data
                                         : cache_kind::unified;
        found.push_back(std::move(one));
      }
    }
    if (found.size() == before) {
      break;
    }
  }
  return found;
}

node_set system_files::initiators_of(node_id node) const {
  node_set nodes;
  if (!there_) {
    return nodes;
  }
  const std::string folder = fmt::format("{}/sys/devices/system/node/node{}", prefix_, node);
  // access1 lists processors only; the older access0 also lists devices that start transfers.
  for (const char* const access : {"/access1/initiators", "/access0/initiators"}) {
    if (const auto numbers = numbered_entries(folder + access, "node")) {
      for (const int number : *numbers) {
        nodes.insert(node_id{number});
      }
      break;
    }
  }
  return nodes;
}

} // namespace nodewise::spec
