// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "page_cache/locate.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace nodewise::page_cache {

namespace {

/// Bytes of a file that are looked at together.
constexpr std::uint64_t located_at_once = std::uint64_t{64} << 20;

/// Asks for the nodes of the pages of a run, all of them cached.
void find_nodes(sys::kernel& kernel, const sys::file_window& window, std::size_t first,
                std::size_t last, std::vector<node_id>& nodes) {
  const bool touched = window.touch(first, last - first) == 0;
  std::vector<void*> pages;
  std::vector<int> status(last - first, -ENOENT);
  for (std::size_t page = first; page < last; ++page) {
    pages.push_back(window.page(page));
  }
  if (kernel.query_pages(pages, status) != 0) {
    status.assign(status.size(), -EBUSY);
  }
  for (std::size_t page = first; page < last; ++page) {
    const int found = status[page - first];
    // Not mapped though touched: it was evicted, or the file has become shorter.
    nodes[page] = found >= 0                     ? node_id{found}
                  : found == -ENOENT || !touched ? not_cached
                                                 : unknown_node;
  }
}

} // namespace

std::map<node_id, std::uint64_t> file_location::pages_by_node() const {
  std::map<node_id, std::uint64_t> all;
  for (const cached_run& each : runs) {
    all[each.node] += each.pages;
  }
  return all;
}

std::uint64_t file_location::cached_pages() const {
  std::uint64_t pages = 0;
  for (const cached_run& each : runs) {
    pages += each.node == not_cached ? 0 : each.pages;
  }
  return pages;
}

void append(std::vector<cached_run>& runs, std::size_t pages, node_id node) {
  if (!runs.empty() && runs.back().node == node) {
    runs.back().pages += pages;
  } else if (pages != 0) {
    runs.push_back({pages, node});
  }
}

sys::answer<std::vector<node_id>> nodes_of_window(sys::kernel& kernel,
                                                  const sys::file_window& window, bool hidden) {
  std::vector<unsigned char> resident(window.pages(), 1);
  if (const int failed = hidden ? 0 : window.find_resident(resident); failed != 0) {
    return {{}, failed};
  }
  std::vector<node_id> nodes(window.pages(), not_cached);
  for (std::size_t first = 0; first < nodes.size();) {
    const auto is_cached = [&](std::size_t page) { return (resident[page] & 1U) != 0; };
    std::size_t last = first + 1;
    while (last < nodes.size() && is_cached(last) == is_cached(first)) {
      ++last;
    }
    if (is_cached(first)) {
      find_nodes(kernel, window, first, last, nodes);
    }
    first = last;
  }
  return {std::move(nodes), 0};
}

sys::answer<file_location> locate(sys::kernel& kernel, const sys::cached_file& file,
                                  const progress_of_bytes& done) {
  const auto size = file.size();
  const auto hidden = size ? file.hides_pages() : sys::answer<bool>{false, size.errno_value};
  if (!hidden) {
    return {{}, hidden.errno_value};
  }
  file_location found{size.value, kernel.base_page_bytes(), !hidden.value, {}};
  for (std::uint64_t at = 0; found.is_known && at < size.value; at += located_at_once) {
    const std::uint64_t bytes = std::min(located_at_once, size.value - at);
    const auto window = sys::file_window::map(file, at, bytes);
    const auto nodes = window ? nodes_of_window(kernel, window.value, false)
                              : sys::answer<std::vector<node_id>>{{}, window.errno_value};
    if (!nodes) {
      return {{}, nodes.errno_value};
    }
    for (const node_id node : nodes.value) {
      append(found.runs, 1, node);
    }
    if (done) {
      done(bytes);
    }
  }
  return {std::move(found), 0};
}

} // namespace nodewise::page_cache
