// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Figures between nodes: reads the firmware's distances and the bandwidths and latencies of its
// HMAT; writes machines as hwloc's XML, with the costs measured on them.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "topology/hwloc_machine.hpp"
#include "topology/measured_machine.hpp"

namespace nodewise::topology_detail {

namespace {

/// A memory attribute of hwloc and the corresponding parameter.
struct memory_attribute {
  hwloc_memattr_id_t id;
  std::string_view xml_name; ///< in hwloc's XML
  std::string_view name;
  std::string_view unit;
  double scale; ///< from hwloc's MiB/s and ns, which are whole numbers
};
constexpr double mib_per_s = 1048576e-9;
constexpr std::array memory_attributes{
    memory_attribute{HWLOC_MEMATTR_ID_BANDWIDTH, "Bandwidth", "bandwidth", "GB/s", mib_per_s},
    memory_attribute{HWLOC_MEMATTR_ID_LATENCY, "Latency", "latency", "ns", 1.0},
    memory_attribute{HWLOC_MEMATTR_ID_READ_BANDWIDTH, "ReadBandwidth", "read_bandwidth", "GB/s",
                     mib_per_s},
    memory_attribute{HWLOC_MEMATTR_ID_WRITE_BANDWIDTH, "WriteBandwidth", "write_bandwidth", "GB/s",
                     mib_per_s},
    memory_attribute{HWLOC_MEMATTR_ID_READ_LATENCY, "ReadLatency", "read_latency", "ns", 1.0},
    memory_attribute{HWLOC_MEMATTR_ID_WRITE_LATENCY, "WriteLatency", "write_latency", "ns", 1.0},
};

/// The position of this object's node in `all.nodes`, or nodes.size().
std::size_t position(const machine& all, hwloc_obj_t node) {
  const auto it =
      std::ranges::find(all.nodes, node_id{static_cast<int>(node->os_index)}, &memory_node::id);
  return static_cast<std::size_t>(it - all.nodes.begin());
}

/// The matrix in the order of `all.nodes`; empty unless it covers all nodes and its values fit.
std::vector<std::vector<int>> rows_of(const hwloc_distances_s& matrix, const machine& all) {
  const std::size_t count = all.nodes.size();
  std::vector<std::vector<int>> rows(count, std::vector<int>(count, -1));
  if (matrix.nbobjs != count) {
    return {};
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < count; ++i) {
    if (matrix.objs[i] == nullptr || matrix.objs[i]->type != HWLOC_OBJ_NUMANODE ||
        position(all, matrix.objs[i]) == count) {
      return {};
    }
    order.push_back(position(all, matrix.objs[i]));
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      const hwloc_uint64_t value = matrix.values[i * count + j];
      if (value > static_cast<hwloc_uint64_t>(max_id)) {
        return {};
      }
      rows[order[i]][order[j]] = static_cast<int>(value);
    }
  }
  return rows;
}

struct initiator_value {
  cpu_set cpus;
  hwloc_uint64_t value;
};

std::vector<initiator_value> values_of(hwloc_topology_t topology, hwloc_memattr_id_t id,
                                       hwloc_obj_t target) {
  unsigned count = 0;
  if (hwloc_memattr_get_initiators(topology, id, target, 0, &count, nullptr, nullptr) != 0 ||
      count == 0) {
    return {};
  }
  std::vector<hwloc_location> initiators(count);
  std::vector<hwloc_uint64_t> values(count);
  if (hwloc_memattr_get_initiators(topology, id, target, 0, &count, initiators.data(),
                                   values.data()) != 0) {
    return {};
  }
  std::vector<initiator_value> found;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, initiators.size()); ++i) {
    const hwloc_location& from = initiators[i];
    const hwloc_const_bitmap_t cpus = from.type == HWLOC_LOCATION_TYPE_CPUSET
                                          ? from.location.cpuset
                                          : from.location.object->cpuset;
    found.push_back({to_set<cpu_id>(cpus), values[i]});
  }
  return found;
}

/// The smallest initiator that holds all the node's processors: it describes the node best.
const initiator_value* best_for(const cpu_set& cpus, const std::vector<initiator_value>& values) {
  const initiator_value* best = nullptr;
  for (const initiator_value& each : values) {
    if (each.cpus.includes(cpus) && (best == nullptr || each.cpus.size() < best->cpus.size())) {
      best = &each;
    }
  }
  return best;
}

/// Whether a figure for reading or writing alone equals the average, so that it can be left out.
bool repeats_average(const machine& all, const parameter& figure) {
  const std::size_t at = figure.name.find('_');
  return at != std::string::npos &&
         std::ranges::any_of(all.parameters, [&](const parameter& other) {
           return other.name == figure.name.substr(at + 1) && other.from == figure.from &&
                  other.to == figure.to && other.value == figure.value;
         });
}

// Export.

constexpr const char* asked_costs = "measured costs as hwloc's memory attributes";

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
  return std::ranges::count(measured.parameters, name, &parameter::name) != 0;
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
  hwloc_location initiator{.type = HWLOC_LOCATION_TYPE_CPUSET, .location = {.cpuset = cpus.get()}};
  if (hwloc_memattr_set_value(into, what.id, target, &initiator, 0, value_of(figure, what)) != 0) {
    throw error(error_kind::system, asked_costs,
                fmt::format("hwloc rejects the {} from node {} to node {}", figure.name,
                            figure.from, figure.to),
                "report it with the machine's XML: nodewise topo --xml", errno);
  }
}

} // namespace

/// Takes the matrix that stands for the firmware's table: the one with its name if there is one,
/// else the first latencies between all nodes that the operating system gave.
void add_distances(hwloc_topology_t topology, machine& all) {
  constexpr unsigned most = 32;
  std::array<hwloc_distances_s*, most> matrices{};
  unsigned count = most;
  constexpr unsigned long kind = HWLOC_DISTANCES_KIND_FROM_OS | HWLOC_DISTANCES_KIND_MEANS_LATENCY;
  if (hwloc_distances_get(topology, &count, matrices.data(), kind, 0) != 0) {
    return;
  }
  for (const bool by_name : {true, false}) {
    for (unsigned i = 0; i < std::min(count, most); ++i) {
      const char* const name = hwloc_distances_get_name(topology, matrices[i]);
      const bool is_named = name != nullptr && std::string_view(name) == "NUMALatency";
      if (all.distances.empty() && is_named == by_name) {
        all.distances = rows_of(*matrices[i], all);
      }
    }
  }
  for (unsigned i = 0; i < std::min(count, most); ++i) {
    hwloc_distances_release(topology, matrices[i]);
  }
}

void add_memory_attributes(hwloc_topology_t topology, const std::string& source, machine& all) {
  for (const memory_attribute& each : memory_attributes) {
    for (hwloc_obj_t target : objects(topology, HWLOC_OBJ_NUMANODE)) {
      const auto values = values_of(topology, each.id, target);
      for (const memory_node& from : all.nodes) {
        const initiator_value* const found =
            from.cpus.empty() || position(all, target) == all.nodes.size()
                ? nullptr
                : best_for(from.cpus, values);
        if (found == nullptr) {
          continue;
        }
        const parameter figure{std::string(each.name),
                               from.id,
                               all.nodes[position(all, target)].id,
                               static_cast<double>(found->value) * each.scale,
                               std::string(each.unit),
                               source};
        if (!repeats_average(all, figure)) {
          all.parameters.push_back(figure);
        }
      }
    }
  }
}

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
