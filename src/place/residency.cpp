// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where pages are: the kernel's answers, and a picture of them.
#include <nodewise/strip.hpp>

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "place/engine.hpp"

namespace nodewise::engine {

namespace {

void set_shares(const std::map<int, std::size_t>& per_node, residency& result) {
  for (const auto& [node, pages] : per_node) {
    result.per_node.push_back({node_id{node}, pages});
  }
}

/// Counts pages by node, and pages on their owner. Pages must be added in ascending order.
class page_counts {
 public:
  page_counts(residency& result, std::span<const extent> extents)
      : result_(result), extents_(extents) {}

  void add(std::size_t page, node_id node) {
    while (at_ < extents_.size() && extents_[at_].last_page <= page) {
      ++at_;
    }
    ++result_.resident;
    if (node == unknown_node) {
      ++result_.unknown;
      return;
    }
    ++per_node_[to_int(node)];
    if (at_ < extents_.size() && extents_[at_].first_page <= page && extents_[at_].owner == node) {
      ++result_.on_owner;
    }
  }

  void finish() { set_shares(per_node_, result_); }

 private:
  residency& result_;
  std::span<const extent> extents_;
  std::size_t at_ = 0;
  std::map<int, std::size_t> per_node_;
};

bool query_by_move_pages(sys::kernel& kernel, const page_window& window,
                         std::span<const extent> extents, residency& result) {
  page_counts counts(result, extents);
  std::vector<void*> pages;
  std::vector<int> status;
  for (std::size_t first = 0; first < window.pages; first += batch_pages) {
    const std::size_t last = std::min(first + batch_pages, window.pages);
    pages.clear();
    for (std::size_t page = first; page < last; ++page) {
      pages.push_back(window.page(page));
    }
    status.assign(pages.size(), -ENOENT);
    if (kernel.query_pages(pages, status) != 0) {
      return false;
    }
    for (std::size_t i = 0; i < status.size(); ++i) {
      // ENOENT: no page. EFAULT: the shared zero page, which has no owner.
      if (status[i] != -ENOENT && status[i] != -EFAULT) {
        counts.add(first + i, status[i] >= 0 ? node_id{status[i]} : unknown_node);
      }
    }
  }
  counts.finish();
  result.exactness = resolution::page;
  return true;
}

/// get_mempolicy brings absent pages into memory, so mincore first finds the present ones.
bool query_by_get_mempolicy(sys::kernel& kernel, const page_window& window,
                            std::span<const extent> extents, residency& result) {
  std::vector<unsigned char> present(window.pages);
  if (kernel.mincore(window.start, window.pages * window.page_bytes, present) != 0) {
    return false;
  }
  page_counts counts(result, extents);
  for (std::size_t page = 0; page < window.pages; ++page) {
    if ((present[page] & 1U) == 0) {
      continue;
    }
    if ((present[page] & 2U) != 0) {
      counts.add(page, unknown_node);
      continue;
    }
    const auto node = kernel.node_of_page(window.page(page));
    if (!node && result.resident == result.unknown) {
      return false;
    }
    counts.add(page, node ? node.value : unknown_node);
  }
  counts.finish();
  result.exactness = resolution::page;
  return true;
}

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

/// The owner of all pages of the mapping at first..last, or unknown_node if it spans several
/// extents.
node_id single_owner(std::uintptr_t first, std::uintptr_t last, const page_window& window,
                     std::span<const extent> extents) {
  const auto start = reinterpret_cast<std::uintptr_t>(window.start);
  const auto found = std::ranges::find_if(extents, [&](const extent& e) {
    return start + e.first_page * window.page_bytes <= first &&
           last <= start + e.last_page * window.page_bytes;
  });
  return found == extents.end() ? unknown_node : found->owner;
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

/// Totals of the window's mappings, from /proc/self/numa_maps. Pages of a mapping with several
/// owners are counted on their nodes, and as unknown: the file does not show whose they are. False
/// if the file cannot be read, or if a mapping extends beyond the window: it is not known which of
/// its pages are inside.
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
    const auto mapping = ends.find(take_number<std::uintptr_t>(line, 16).value_or(0));
    if (mapping == ends.end() || mapping->second <= window_first || mapping->first >= window_last) {
      continue;
    }
    const auto& [first, last] = *mapping;
    if (first < window_first || last > window_last) {
      return false; // it crosses an edge
    }
    const node_id owner = single_owner(first, last, window, extents);
    const line_counts counts = parse_counts(line);
    for (const auto& [node, units] : counts.pages) {
      const std::size_t pages = units * counts.page_kib * 1024 / window.page_bytes;
      per_node[node] += pages;
      result.resident += pages;
      result.on_owner += node_id{node} == owner ? pages : 0;
      result.unknown += owner == unknown_node && !extents.empty() ? pages : 0;
    }
  }
  set_shares(per_node, result);
  result.exactness = resolution::mapping;
  return true;
}

bool query_by_mincore(sys::kernel& kernel, const page_window& window, std::span<const extent>,
                      residency& result) {
  std::vector<unsigned char> present(window.pages);
  if (kernel.mincore(window.start, window.pages * window.page_bytes, present) != 0) {
    return false;
  }
  result.resident = static_cast<std::size_t>(
      std::ranges::count_if(present, [](unsigned char page) { return (page & 1U) != 0; }));
  result.unknown = result.resident;
  return true;
}

} // namespace

residency query_residency(sys::kernel& kernel, std::span<const std::byte> range,
                          std::span<const extent> extents) {
  // The kernel's queries take plain addresses and change nothing.
  const std::span<std::byte> bytes(const_cast<std::byte*>(range.data()), range.size());
  const page_window window = whole_pages(bytes, kernel.base_page_bytes());
  residency result;
  for (const auto& query :
       {query_by_move_pages, query_by_get_mempolicy, query_by_numa_maps, query_by_mincore}) {
    result = {};
    result.pages = window.pages;
    if (query(kernel, window, extents, result)) {
      break;
    }
  }
  return result; // of the last query, which changes nothing if it fails
}

} // namespace nodewise::engine

namespace nodewise::inline v0 {

namespace {

constexpr std::size_t pages_per_column = 8;
constexpr int absent = -ENOENT;
constexpr int zero_page = -EFAULT;

char letter_of(int node) {
  constexpr std::string_view letters = "0123456789abcdefghijklmnopqrstuvwxyz";
  if (node == absent || node == zero_page) {
    return '.';
  }
  if (node < 0) {
    return '?';
  }
  const auto at = static_cast<std::size_t>(node);
  return at < letters.size() ? letters[at] : '#';
}

/// The most frequent status; the lowest one if several are equally frequent.
int most_of(std::span<const int> status) {
  std::map<int, std::size_t> counts;
  for (const int each : status) {
    ++counts[each == zero_page ? absent : each];
  }
  return std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })->first;
}

std::string picture(sys::kernel& kernel, const engine::page_window& window, std::size_t columns) {
  columns = std::min(columns, window.pages);
  std::string drawn;
  for (std::size_t column = 0; column < columns; ++column) {
    const auto part = arithmetic::blocked(column, window.pages, columns);
    const std::size_t asked = std::min(part.size(), pages_per_column);
    std::vector<void*> pages;
    for (std::size_t k = 0; k < asked; ++k) {
      pages.push_back(window.page(part.first + arithmetic::blocked(k, part.size(), asked).first));
    }
    std::vector<int> status(asked, -EPERM);
    (void)kernel.query_pages(pages, status);
    drawn += letter_of(most_of(status));
  }
  return drawn;
}

std::string percent(std::size_t part, std::size_t whole) {
  const double share = 100 * static_cast<double>(part) / static_cast<double>(whole);
  return part == whole ? "100 %" : fmt::format("{:.1f} %", share);
}

std::string figures(const residency& where, std::size_t bytes) {
  const std::string size = fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
  if (where.resident == 0) {
    return fmt::format("{}, nothing in memory", size);
  }
  const bool all = where.resident == where.pages;
  const std::string part =
      all ? "" : fmt::format("{} in memory, ", percent(where.resident, where.pages));
  if (!where.locality()) {
    return fmt::format("{}, {}the nodes are unknown", size, part);
  }
  return fmt::format("{}, {}{} {}", size, part,
                     percent(where.on_owner, where.resident - where.unknown),
                     all ? "on its owner" : "of that on its owner");
}

} // namespace

std::string strip(std::span<const std::byte> range, std::span<const extent> extents,
                  std::size_t columns) {
  sys::kernel& kernel = sys::real_kernel();
  // The kernel's queries take plain addresses and change nothing.
  const std::span<std::byte> bytes(const_cast<std::byte*>(range.data()), range.size());
  const auto window = engine::whole_pages(bytes, kernel.base_page_bytes());
  return fmt::format("{}  {}", picture(kernel, window, columns),
                     figures(query_residency(range, extents), range.size()));
}

std::string strip(const region& of, std::size_t columns) {
  const placement& placed = of.placed();
  return strip({of.data(), placed.pages * placed.base_page_bytes}, placed.asked, columns);
}

} // namespace nodewise::inline v0
