// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Figures between nodes: the firmware's distances and the bandwidths and latencies of its HMAT.
#include <algorithm>
#include <array>
#include <string_view>

#include "topology/hwloc_machine.hpp"

namespace nodewise::topology_detail {

namespace {

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
    found.push_back({to_cpu_set(cpus), values[i]});
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

} // namespace nodewise::topology_detail
