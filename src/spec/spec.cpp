// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "spec/spec.hpp"
#include "spec/syntaxes.hpp"

namespace nodewise::spec {

namespace {

constexpr std::size_t longest_text = 1 << 16;

void check_length(std::string_view text) {
  if (text.size() > longest_text) {
    refuse(fmt::format("a list of {} characters", text.size()),
           fmt::format("more than {}", longest_text), "write ranges");
  }
}

std::vector<cpu_id> ascending(const cpu_set& cpus) {
  return {cpus.begin(), cpus.end()};
}

/// The usable nodes nearest to a device.
node_set usable_near(const device_name& device, const topology& where, node_purpose purpose,
                     const system_files& files) {
  const node_set nodes = nodes_near(device, where, files);
  const node_set usable = usable_nodes(where, purpose);
  if (!nodes.intersects(usable)) {
    check_node(nodes.first(), where, purpose, usable);
  }
  return nodes & usable;
}

} // namespace

cpu_set cpu_list::cpus() const {
  cpu_set all;
  for (const cpu_id cpu : in_order) {
    all.insert(cpu);
  }
  return all;
}

syntax syntax_of(std::string_view text) noexcept {
  return names_device(text)     ? syntax::numactl
         : is_hwloc_text(text)  ? syntax::hwloc
         : is_likwid_text(text) ? syntax::likwid
                                : syntax::numactl;
}

cpu_list resolve_cpus(std::string_view text, const topology& where, std::string_view root) {
  check_length(text);
  const system_files files(root, where.machine());
  switch (syntax_of(text)) {
  case syntax::hwloc:
    return {ascending(hwloc_cpus(text, where, files))};
  case syntax::likwid:
    return {likwid_cpus(text, where, files)};
  case syntax::numactl:
    break;
  }
  const auto device = read_device_name(text);
  if (!device) {
    return {ascending(numactl_cpus(text, where))};
  }
  const node_set nodes = usable_near(*device, where, node_purpose::processors, files);
  return {ascending(cpus_of(nodes, where) & where.allowed_cpus())};
}

node_set resolve_nodes(std::string_view text, const topology& where, node_purpose purpose,
                       std::string_view root) {
  check_length(text);
  const system_files files(root, where.machine());
  switch (syntax_of(text)) {
  case syntax::hwloc:
    return hwloc_nodes(text, where, purpose, files);
  case syntax::likwid:
    return likwid_nodes(text, where, purpose, files);
  case syntax::numactl:
    break;
  }
  const auto device = read_device_name(text);
  return device ? usable_near(*device, where, purpose, files) : numactl_nodes(text, where, purpose);
}

sysfs_detail detail_for(std::string_view text) noexcept {
  return syntax_of(text) == syntax::numactl ? sysfs_detail::nodes : sysfs_detail::all;
}

} // namespace nodewise::spec
