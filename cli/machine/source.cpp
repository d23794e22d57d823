// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/machine/source.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/frame/registry.hpp"
#include "place/kernel_weights.hpp"
#include "topology/export_xml.hpp"
#include "topology/measured_machine.hpp"

namespace nodewise::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view lab = "lab:";
constexpr std::string_view sysfs = "sysfs:";

bool is_grid(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9' &&
         text.find_first_not_of("0123456789x") == std::string_view::npos;
}

/// A synthetic specification has a level with a count: "numa:2 core:4".
bool looks_synthetic(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && colon + 1 < text.size() && text[colon + 1] >= '0' &&
         text[colon + 1] <= '9';
}

/// Converts what --input names to a source that hwloc can read.
topology_detail::hwloc_source hwloc_source_of(std::optional<std::string_view> what) {
  using namespace topology_detail;
  if (!what) {
    return this_machine{};
  }
  if (what->starts_with(sysfs)) {
    return sysfs_tree{fs::path(what->substr(sysfs.size()))};
  }
  const std::string_view spec = what->substr(what->starts_with(lab) ? lab.size() : 0);
  if (is_grid(spec) || looks_synthetic(spec)) {
    return synthetic_machine{std::string(spec)};
  }
  if (file_begins_with(fs::path(*what), '<')) {
    return xml_file{fs::path(*what)};
  }
  throw error(error_kind::usage, fmt::format("hwloc's XML of {}", *what),
              "hwloc reads this system, sysfs trees, its own XML and synthetic machines",
              "use --json, or run it inside the machine: nodewise topo --xml --on lab:NAME; to add "
              "costs that were measured on another machine, give that machine's XML: -i FILE.xml "
              "--costs FILE.json");
}

topology with(const topology& what, const machine& measured) {
  return {measured::with_costs(what.machine(), measured), what.allowed_cpus(),
          what.allowed_nodes()};
}

/// Weights from a disturbed figure would silently place arrays wrongly. For one node any weight is
/// right.
void refuse_disturbed(const measured::profile& kept, const node_set& nodes) {
  node_set with_own; // the figure of the node's own processors has priority
  for (const parameter& each : kept.what.parameters) {
    if (each.name == "bandwidth" && each.from == each.to) {
      with_own.insert(each.to);
    }
  }
  node_set disturbed;
  for (const parameter& each : kept.what.parameters) {
    const bool counts = each.from == each.to || !with_own.contains(each.to);
    if (each.name == "bandwidth" && counts && measured::was_disturbed(each)) {
      disturbed.insert(each.to);
    }
  }
  disturbed = std::move(disturbed) & nodes;
  if (nodes.size() > 1 && !disturbed.empty()) {
    throw error(
        error_kind::input,
        fmt::format("weighted:auto, weights by the bandwidths in {}", kept.file.string()),
        fmt::format("other work disturbed the measurement of node {}", disturbed.to_string()),
        "measure again on an idle machine (nodewise measure), or give the weights: "
        "weighted:0=3,1=1");
  }
}

} // namespace

bool file_begins_with(const fs::path& file, char wanted) {
  std::ifstream in(file);
  char first = '\0';
  return in >> first && first == wanted; // >> skips white space
}

std::vector<std::string> lab_machine_names(const paths& from) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(from.machines(), none)) {
    if (entry.path().extension() == ".json") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

bool names_file(std::string_view name) noexcept {
  return name.find('/') != std::string_view::npos || name.ends_with(".json");
}

topology read_lab_machine(std::string_view name, const paths& from) {
  std::vector<std::string> names = lab_machine_names(from);
  if (std::ranges::find(names, name) != names.end()) {
    return topology::from_json(fs::path(from.machines()) / (std::string(name) + ".json"));
  }
  if (is_grid(name)) {
    return topology::synthetic(name);
  }
  if (names_file(name)) {
    return topology::from_json(fs::path(name));
  }
  const std::string near = nearest(name, std::vector<std::string_view>(names.begin(), names.end()));
  names.emplace_back("grids such as lab:4x2");
  throw error(error_kind::usage, fmt::format("the machine lab:{}", name),
              "no machine of this name in " + from.machines(),
              fmt::format("{}there are {}, and lab:/path/to/machine.json",
                          near.empty() ? "" : fmt::format("did you mean lab:{}? ", near),
                          joined(names, ", ")));
}

std::string machine_xml(std::optional<std::string_view> what,
                        const std::optional<machine>& measured) {
  const topology_detail::hwloc_source source = hwloc_source_of(what);
  return measured ? topology_detail::export_xml_with_costs(source, *measured)
                  : topology_detail::export_xml(source);
}

topology read_machine(std::string_view what, const paths& from) {
  if (what.starts_with(lab)) {
    return read_lab_machine(what.substr(lab.size()), from);
  }
  if (what.starts_with(sysfs)) {
    return topology::from_sysfs_by_hwloc(fs::path(what.substr(sysfs.size())));
  }
  const fs::path file(what);
  std::error_code none;
  if (fs::is_regular_file(file, none)) {
    return file_begins_with(file, '<') ? topology::from_xml(file) : topology::from_json(file);
  }
  if (fs::is_directory(file, none)) {
    throw error(error_kind::usage, fmt::format("the machine of {}", what), "it is a directory",
                fmt::format("for a recorded sysfs tree, write sysfs:{}", what));
  }
  if (file.extension() == ".xml" || file.extension() == ".json") {
    throw error(error_kind::input, fmt::format("the machine file {}", what),
                "there is no such file", "check the path");
  }
  if (is_grid(what) || looks_synthetic(what)) {
    return topology::synthetic(what);
  }
  throw error(error_kind::usage, fmt::format("the machine '{}'", what),
              "it is neither a file nor a specification",
              "write FILE.xml, FILE.json, sysfs:DIR, lab:NAME, 4x2 or \"numa:2 core:4 pu:1\"");
}

measured_machine this_machine_with_costs() {
  measured_machine made{topology::system(), std::nullopt, {}};
  measured::findings all = measured::find(made.what.machine());
  made.remarks = std::move(all.remarks);
  if (all.found) {
    made.measured = std::move(all.found->what);
    made.what = with(made.what, *made.measured);
    made.remarks.push_back("measured: " + all.found->file.string());
  } else if (!measured::has_costs(made.what.machine())) {
    made.remarks.emplace_back("not measured; nodewise measure");
  }
  return made;
}

measured_machine machine_with_costs(const topology& what, std::string_view file) {
  const std::string asked = fmt::format("--costs {}", file);
  measured::profile read = measured::read(file);
  if (const std::string why = measured::why_another(what.machine(), read.what); !why.empty()) {
    throw error(error_kind::input, asked, why, "use costs that were measured on it");
  }
  measured_machine made{with(what, read.what), std::move(read.what), {}};
  made.remarks.push_back(fmt::format("from {}", file));
  return made;
}

launch::measured_weights weigh_by_measurement(const topology& here, const node_set& nodes) {
  const measured::findings all = measured::find(here.machine());
  if (!all.found) {
    throw error(error_kind::input, "weighted:auto, weights by measured bandwidths",
                "this machine was not measured" +
                    joined(all.remarks, "", [](const std::string& each) { return "; " + each; }),
                "measure it (nodewise measure), or give the weights: weighted:0=3,1=1");
  }
  refuse_disturbed(*all.found, nodes);
  launch::measured_weights made{all.found->file.string(), {}};
  for (const kernel_weights::weight& each : kernel_weights::by_bandwidth(all.found->what, nodes)) {
    made.weights.push_back({each.value, static_cast<std::size_t>(to_int(each.node))});
  }
  return made;
}

} // namespace nodewise::cli
