// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <map>

#include "place/engine.hpp"
#include "place/numa_maps.hpp"

namespace nodewise::engine {

namespace {

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

  void finish() {
    for (const auto& [node, pages] : per_node_) {
      result_.per_node.push_back({node_id{node}, pages});
    }
  }

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
  for (const auto& query :
       {query_by_move_pages, query_by_get_mempolicy, query_by_numa_maps, query_by_mincore}) {
    residency result;
    result.pages = window.pages;
    if (query(kernel, window, extents, result)) {
      return result;
    }
  }
  residency unknown;
  unknown.pages = window.pages;
  return unknown;
}

} // namespace nodewise::engine
