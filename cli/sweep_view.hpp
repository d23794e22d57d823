// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Shows the result of a page cache sweep as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/machine.hpp>

#include "report/style.hpp"
#include "sweep/page_cache.hpp"
#include "sweep/pressure.hpp"
#include "sys/node_memory.hpp"

namespace nodewise::cli {

enum class sweep_way {
  drop,     ///< /proc/sys/vm/drop_caches, for root
  files,    ///< the files named by the user
  pressure, ///< memory allocated on each node
};

struct swept_node {
  node_id node = unknown_node;
  std::optional<sys::node_memory> before;
  std::optional<sys::node_memory> after;
  std::optional<sweep::pressure> pressed;
};

struct swept_file {
  std::string path;
  sweep::dropped outcome;
};

struct swept {
  sweep_way way = sweep_way::drop;
  std::vector<swept_node> nodes;
  std::vector<swept_file> files;
};

/// A table of each node's free memory and page cache, before and after, with remarks.
[[nodiscard]] std::string sweep_text(const swept& what, const report::style& how);

/// nodewise/sweep/1.
[[nodiscard]] nlohmann::ordered_json sweep_json(const swept& what, const machine& on,
                                                nlohmann::ordered_json settings);

} // namespace nodewise::cli
