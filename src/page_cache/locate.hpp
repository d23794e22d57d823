// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where the cached pages of a file are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "sys/cached_file.hpp"
#include "sys/file_window.hpp"
#include "sys/kernel.hpp"

namespace nodewise::page_cache {

/// The node of a page that is not cached; `unknown_node`: it is cached, its node is unknown.
inline constexpr node_id not_cached{-2};

/// Pages in a row on the same node.
struct cached_run {
  std::size_t pages = 0;
  node_id node = not_cached;
  friend bool operator==(const cached_run&, const cached_run&) = default;
};

/// A file's pages, from the first to the last.
struct file_location {
  std::uint64_t bytes = 0; ///< the file's length
  std::size_t page_bytes = 0;
  /// Whether the kernel reports which pages are cached: only to users that own the file or may
  /// write it. If not, there are no runs.
  bool is_known = true;
  std::vector<cached_run> runs;

  /// Pages of each node; also of `not_cached` and `unknown_node`.
  [[nodiscard]] std::map<node_id, std::uint64_t> pages_by_node() const;
  [[nodiscard]] std::uint64_t cached_pages() const;
};
void append(std::vector<cached_run>& runs, std::size_t pages, node_id node);

/// `bytes` more of the file are done.
using progress_of_bytes = std::function<void(std::uint64_t bytes)>;

/// Reads nothing of the file. Returns the kernel's errno.
[[nodiscard]] sys::answer<file_location> locate(sys::kernel& kernel, const sys::cached_file& file,
                                                const progress_of_bytes& done = {});

/// The node of each page of a window. `hidden`: the kernel does not report which are cached, and
/// all are taken for cached; those that are not are read.
[[nodiscard]] sys::answer<std::vector<node_id>>
nodes_of_window(sys::kernel& kernel, const sys::file_window& window, bool hidden);

} // namespace nodewise::page_cache
