// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The result of `nodewise drop-cache`, and how it is shown as text.
#pragma once

#include <nodewise/machine.hpp>

#include "page_cache/page_cache.hpp"
#include "report/style.hpp"
#include "sys/kernel.hpp"

namespace nodewise::cli {

enum class drop_way {
  drop,     ///< /proc/sys/vm/drop_caches, for root
  files,    ///< the files named by the user
  pressure, ///< memory allocated on each node
};

struct dropped_node {
  node_id node = unknown_node;
  std::optional<sys::node_memory> before;
  std::optional<sys::node_memory> after;
  std::optional<page_cache::pressure> pressed;
};

struct dropped_file {
  std::string path;
  page_cache::dropped outcome;
};

struct dropped_cache {
  const machine& on;
  drop_way way = drop_way::drop;
  std::vector<dropped_node> nodes;
  std::vector<dropped_file> files;
};

/// A table of each node's free memory and page cache, before and after, with remarks.
[[nodiscard]] std::string drop_cache_text(const dropped_cache& what, const report::style& how);

} // namespace nodewise::cli
