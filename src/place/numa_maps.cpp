// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "place/numa_maps.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

#include "base/parse_number.hpp"
#include "base/split.hpp"

namespace nodewise::engine {

namespace {

struct address_range {
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;
};

/// Start to end of every mapping: numa_maps gives only the start.
std::map<std::uintptr_t, std::uintptr_t> mapping_ends(std::string_view maps) {
  std::map<std::uintptr_t, std::uintptr_t> ends;
  for (std::string_view line : split(maps, '\n')) {
    const auto first = take_number<std::uintptr_t>(line, 16);
    line.remove_prefix(line.starts_with('-') ? 1 : 0);
    const auto last = take_number<std::uintptr_t>(line, 16);
    if (first && last) {
      ends[*first] = *last;
    }
  }
  return ends;
}

/// The owner of all of the mapping's pages, or unknown_node if it spans several extents.
node_id single_owner(const address_range& mapping, const page_window& window,
                     std::span<const extent> extents) {
  for (const extent& e : extents) {
    const auto bytes = window.bytes_of(e);
    const auto first = reinterpret_cast<std::uintptr_t>(bytes.data());
    if (first <= mapping.first && mapping.last <= first + bytes.size()) {
      return e.owner;
    }
  }
  return unknown_node;
}

struct line_counts {
  std::map<int, std::size_t> pages; ///< by node, in units of `page_kib`
  std::size_t page_kib = 0;
};

line_counts parse_counts(std::string_view line) {
  line_counts counts;
  for (const std::string_view field : split(line, ' ')) {
    const std::size_t equals = std::min(field.find('='), field.size());
    const std::string_view name = field.substr(0, equals);
    const auto value = parse_number<std::size_t>(field.substr(std::min(equals + 1, field.size())));
    if (value && name == "kernelpagesize_kB") {
      counts.page_kib = *value;
    } else if (value && name.starts_with('N')) {
      if (const auto node = parse_number<int>(name.substr(1))) {
        counts.pages[*node] += *value;
      }
    }
  }
  return counts;
}

} // namespace

bool query_by_numa_maps(sys::kernel& kernel, const page_window& window,
                        std::span<const extent> extents, residency& result) {
  const auto numa_maps = kernel.read_file("/proc/self/numa_maps");
  const auto maps = kernel.read_file("/proc/self/maps");
  if (!numa_maps || !maps) {
    return false;
  }
  const auto ends = mapping_ends(maps.value);
  const auto window_first = reinterpret_cast<std::uintptr_t>(window.start);
  const auto window_last = window_first + window.pages * window.page_bytes;
  std::map<int, std::size_t> per_node;
  for (std::string_view line : split(numa_maps.value, '\n')) {
    const auto found = ends.find(take_number<std::uintptr_t>(line, 16).value_or(0));
    if (found == ends.end() || found->second <= window_first || found->first >= window_last) {
      continue;
    }
    const address_range mapping{found->first, found->second};
    if (mapping.first < window_first || mapping.last > window_last) {
      return false; // it crosses an edge
    }
    const node_id owner = single_owner(mapping, window, extents);
    const line_counts counts = parse_counts(line);
    for (const auto& [node, units] : counts.pages) {
      const std::size_t pages = units * counts.page_kib * 1024 / window.page_bytes;
      per_node[node] += pages;
      result.resident += pages;
      result.on_owner += node_id{node} == owner ? pages : 0;
      result.unknown += owner == unknown_node && !extents.empty() ? pages : 0;
    }
  }
  for (const auto& [node, pages] : per_node) {
    result.per_node.push_back({node_id{node}, pages});
  }
  result.exactness = resolution::mapping;
  return true;
}

} // namespace nodewise::engine
