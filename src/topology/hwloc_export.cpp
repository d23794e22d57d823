// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Writes machines as hwloc's XML, with the costs measured on them.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>
#include <string>

#include <fmt/core.h>

#include <nodewise/error.hpp>
#include <nodewise/topology.hpp>

#include "topology/export_xml.hpp"
#include "topology/hwloc_machine.hpp"
#include "topology/measured_machine.hpp"

namespace nodewise::topology_detail {

namespace {

constexpr const char* asked_costs = "measured costs as hwloc's memory attributes";

hwloc_handle load(const hwloc_source& source) {
  struct loader {
    hwloc_handle operator()(const this_machine&) const { return load_system(); }
    hwloc_handle operator()(const xml_file& from) const { return load_xml(from.file); }
    hwloc_handle operator()(const sysfs_tree& from) const { return load_sysfs(from.root); }
    hwloc_handle operator()(const synthetic_machine& from) const {
      return load_synthetic(from.spec);
    }
  };
  return std::visit(loader{}, source);
}

std::string xml_of(hwloc_topology_t loaded) {
  char* buffer = nullptr;
  int length = 0;
  if (hwloc_topology_export_xmlbuffer(loaded, &buffer, &length, 0) != 0) {
    throw error(error_kind::system, "the machine as XML", "hwloc could not write it",
                "free some memory", errno);
  }
  std::string text(buffer);
  hwloc_free_xmlbuffer(loaded, buffer);
  return text;
}

struct bitmap_free {
  void operator()(hwloc_bitmap_t bitmap) const noexcept { hwloc_bitmap_free(bitmap); }
};
using own_bitmap = std::unique_ptr<hwloc_bitmap_s, bitmap_free>;

own_bitmap to_bitmap(const cpu_set& cpus) {
  own_bitmap made(hwloc_bitmap_alloc());
  bool kept = made != nullptr;
  for (const cpu_id cpu : cpus) {
    kept = kept && hwloc_bitmap_set(made.get(), static_cast<unsigned>(to_int(cpu))) == 0;
  }
  if (!kept) {
    throw error(error_kind::system, asked_costs, "hwloc ran out of memory", "free some memory",
                ENOMEM);
  }
  return made;
}

/// Removes an attribute's values from the XML. hwloc has no call for that, and a new value would
/// replace an older one of more processors, and then apply to all of these.
void remove_attribute(std::string& xml, std::string_view name) {
  const std::size_t start = xml.find(fmt::format("<memattr name=\"{}\"", name));
  if (start == std::string::npos) {
    return; // it has no values
  }
  const std::size_t end_of_tag = std::min(xml.find('>', start), xml.size() - 1);
  const std::string_view closing = xml[end_of_tag - 1] == '/' ? "/>" : "</memattr>";
  xml.erase(start, xml.find(closing, end_of_tag - 1) + closing.size() - start);
}

bool has_figure(const machine& measured, std::string_view name) {
  return std::ranges::find(measured.parameters, name, &parameter::name) !=
         measured.parameters.end();
}

const memory_attribute* attribute_of(const parameter& figure) {
  const auto* const found =
      std::ranges::find(memory_attributes, figure.name, &memory_attribute::name);
  return found == memory_attributes.end() ? nullptr : found;
}

/// hwloc's number for a figure; refuses 0, which no machine can have.
hwloc_uint64_t value_of(const parameter& figure, const memory_attribute& what) {
  const double value = std::round(figure.value / what.scale);
  constexpr double most = 1e15;
  if (figure.unit != what.unit || !(value >= 1 && value <= most)) {
    throw error(error_kind::input, asked_costs,
                fmt::format("a {} of {} {}", figure.name, figure.value, figure.unit),
                fmt::format("use {} and a plausible number", what.unit));
  }
  return static_cast<hwloc_uint64_t>(value);
}

void set_value(hwloc_topology_t into, const machine& of, const parameter& figure,
               const memory_attribute& what) {
  const memory_node* const from = of.find_node(figure.from);
  hwloc_obj_t const target =
      hwloc_get_numanode_obj_by_os_index(into, static_cast<unsigned>(to_int(figure.to)));
  if (from == nullptr || from->cpus.empty() || target == nullptr) {
    return; // a node without processors or memory has no such figure
  }
  const own_bitmap cpus = to_bitmap(from->cpus);
  hwloc_location initiator{};
  initiator.type = HWLOC_LOCATION_TYPE_CPUSET;
  initiator.location.cpuset = cpus.get();
  if (hwloc_memattr_set_value(into, what.id, target, &initiator, 0, value_of(figure, what)) != 0) {
    throw error(error_kind::system, asked_costs,
                fmt::format("hwloc rejects the {} from node {} to node {}", figure.name,
                            figure.from, figure.to),
                "report it with the machine's XML: nodewise topo --xml", errno);
  }
}

} // namespace

std::string export_xml(const hwloc_source& source) {
  return xml_of(load(source).get());
}

std::string export_xml_with_costs(const hwloc_source& source, const machine& measured) {
  const hwloc_handle loaded = load(source);
  // For this machine the kernel decides which node a processor belongs to.
  const machine published = std::holds_alternative<this_machine>(source)
                                ? topology::system().machine()
                                : to_machine(loaded.get(), "published");
  if (const std::string why = measured::why_another(published, measured); !why.empty()) {
    throw error(error_kind::input, asked_costs, why, "use costs that were measured on it");
  }
  const machine all = measured::with_costs(published, measured);
  std::string xml = xml_of(loaded.get());
  for (const memory_attribute& each : memory_attributes) {
    if (has_figure(measured, each.name)) {
      remove_attribute(xml, each.xml_name);
    }
  }
  const hwloc_handle made = load_xml_text(xml, asked_costs);
  for (const parameter& figure : all.parameters) {
    const memory_attribute* const what = attribute_of(figure);
    if (what != nullptr && has_figure(measured, what->name)) {
      set_value(made.get(), all, figure, *what);
    }
  }
  return xml_of(made.get());
}

} // namespace nodewise::topology_detail

namespace nodewise {

std::string xml_with_costs(const machine& measured) {
  return topology_detail::export_xml_with_costs(topology_detail::this_machine{}, measured);
}

} // namespace nodewise
