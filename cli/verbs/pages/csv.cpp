// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "cli/verbs/pages/view.hpp"

namespace nodewise::cli {

std::string pages_csv(const pages_sample& sample, const machine& on) {
  const std::chrono::duration<double> since = sample.when.time_since_epoch();
  std::string text;
  for (const observe::page_map& map : sample.processes) {
    // Every node with memory has a row, even if it holds nothing: a series has no gaps.
    std::map<node_id, std::uint64_t> pages;
    for (const memory_node& node : on.nodes) {
      if (node.memory_bytes != 0) {
        pages[node.id] = 0;
      }
    }
    const observe::area sum = sum_of_areas(map);
    for (const observe::area::share& s : sum.per_node) {
      pages[s.node] += s.pages;
    }
    const auto add = [&](const std::string& name, std::uint64_t count, node_id number) {
      std::vector<observe::thread_facts> threads = map.threads;
      std::erase_if(threads, [&](const observe::thread_facts& t) { return t.node != number; });
      const auto active = std::ranges::count(threads, true, &observe::thread_facts::active);
      text += fmt::format("{:.3f},{},{},{},{},{}\n", since.count(), map.pid, name,
                          count * map.page_bytes, threads.size(), active);
    };
    for (const auto& [node, count] : pages) {
      add(fmt::format("{}", node), count, node);
    }
    if (sum.unknown != 0) {
      add("unknown", sum.unknown, unknown_node);
    }
  }
  return text;
}

} // namespace nodewise::cli
