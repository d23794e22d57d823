// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "place/numa_maps.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string_view>

namespace nodewise::engine {

namespace {

struct address_range {
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;
};

template <class F>
void for_each_part(std::string_view text, char separator, F&& f) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    f(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

template <class T>
bool parse(std::string_view text, T& value, int base = 10) {
  return std::from_chars(text.data(), text.data() + text.size(), value, base).ec == std::errc{};
}

/// Start to end of every mapping: numa_maps gives only the start.
std::map<std::uintptr_t, std::uintptr_t> mapping_ends(std::string_view maps) {
  std::map<std::uintptr_t, std::uintptr_t> ends;
  for_each_part(maps, '\n', [&](std::string_view line) {
    const std::size_t dash = line.find('-');
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    if (dash != line.npos && parse(line, first, 16) && parse(line.substr(dash + 1), last, 16)) {
      ends[first] = last;
    }
  });
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
  for_each_part(line, ' ', [&](std::string_view field) {
    const std::size_t equals = field.find('=');
    if (equals == field.npos) {
      return;
    }
    int node = 0;
    std::size_t value = 0;
    if (!parse(field.substr(equals + 1), value)) {
      return;
    }
    if (field.starts_with("kernelpagesize_kB=")) {
      counts.page_kib = value;
    } else if (field.starts_with('N') && parse(field.substr(1, equals - 1), node)) {
      counts.pages[node] += value;
    }
  });
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
  bool crosses_an_edge = false;
  for_each_part(numa_maps.value, '\n', [&](std::string_view line) {
    address_range mapping;
    if (!parse(line, mapping.first, 16) || !ends.contains(mapping.first)) {
      return;
    }
    mapping.last = ends.at(mapping.first);
    if (mapping.last <= window_first || mapping.first >= window_last) {
      return;
    }
    if (mapping.first < window_first || mapping.last > window_last) {
      crosses_an_edge = true;
      return;
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
  });
  if (crosses_an_edge) {
    return false;
  }
  for (const auto& [node, pages] : per_node) {
    result.per_node.push_back({node_id{node}, pages});
  }
  result.exactness = resolution::mapping;
  return true;
}

} // namespace nodewise::engine
