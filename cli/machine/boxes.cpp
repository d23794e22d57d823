// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/machine/boxes.hpp"

#include <array>
#include <utility>

#include <fmt/core.h>

#include "report/style.hpp"
#include "topology/part_sets.hpp"

namespace nodewise::cli {

namespace {

std::string package_name(const package& each) {
  return each.id < 0 ? "package" : fmt::format("package P#{}", each.id);
}

/// The cores among `cpus`, grouped by package if they lie in several.
std::vector<core_group> groups_of(const machine& all, cpu_set cpus) {
  const auto cores_in = [&](const cpu_set& wanted) {
    std::vector<cpu_set> cores;
    for (const core& each : all.cores) {
      if (const cpu_set part = each.cpus & wanted; !part.empty()) {
        cores.push_back(part);
      }
    }
    return cores;
  };
  const bool in_several = std::ranges::none_of(
      all.packages, [&](const package& each) { return each.cpus.includes(cpus); });
  std::vector<core_group> groups;
  for (const package& each : all.packages) {
    if (in_several && each.cpus.intersects(cpus)) {
      groups.push_back({package_name(each), cores_in(each.cpus & cpus)});
      cpus = std::move(cpus) - each.cpus;
    }
  }
  if (!cpus.empty()) {
    groups.push_back({groups.empty() ? "" : "in no package", cores_in(cpus)});
  }
  return groups;
}

/// In the order of `memory_kind`: unknown, dram, hbm, cxl, gpu, other.
constexpr std::array kind_texts = {"", " DRAM", " HBM", " CXL", " GPU memory", " special memory"};

/// "24.0 GiB HBM", and the package if its number adds to the node's.
std::string memory_text(const machine& all, const memory_node& node, const char* dot) {
  const char* const kind = kind_texts.at(static_cast<std::size_t>(node.kind));
  std::string text =
      node.memory_bytes == 0 ? "no memory" : report::format_bytes(node.memory_bytes) + kind;
  for (const package& each : all.packages) {
    const bool says_the_same = each.cpus == node.cpus && each.id == to_int(node.id);
    if (all.packages.size() > 1 && !node.cpus.empty() && each.cpus.includes(node.cpus) &&
        !says_the_same) {
      text += fmt::format(" {} {}", dot, package_name(each));
    }
  }
  return text;
}

node_box box_of(const topology& what, const memory_node& node, const char* dot) {
  node_box box;
  box.node = node.id;
  const bool allowed = !is_withheld(what, node);
  box.title = fmt::format("{}node {}P#{}", allowed ? "" : "x ",
                          node.logical < 0 ? "" : fmt::format("L#{} ", node.logical), node.id);
  box.facts.push_back(memory_text(what.machine(), node, dot));
  if (!allowed) {
    box.facts.emplace_back("x memory not allowed");
  }
  if (node.cpus.empty()) {
    box.facts.emplace_back("no processors");
  } else {
    box.groups = groups_of(what.machine(), node.cpus);
  }
  return box;
}

} // namespace

std::vector<std::vector<node_box>> sorts_of(const topology& what, const char* dot) {
  std::vector<std::vector<node_box>> sorts(3);
  cpu_set rest = what.machine().cpus();
  for (const memory_node& node : what.machine().nodes) {
    sorts[node.cpus.empty() ? 1 : 0].push_back(box_of(what, node, dot));
    rest = std::move(rest) - node.cpus;
  }
  if (!rest.empty()) {
    sorts[2].push_back({unknown_node, "in no node", {}, groups_of(what.machine(), rest)});
  }
  return sorts;
}

} // namespace nodewise::cli
