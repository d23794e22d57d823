// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "cli/pages_view.hpp"

namespace nodewise::cli {

std::string pages_csv(const pages_sample& sample, const machine& on) {
  std::array<char, 32> time{};
  const std::chrono::duration<double> since = sample.when.time_since_epoch();
  (void)std::snprintf(time.data(), time.size(), "%.3f", since.count());
  std::string text;
  for (const observe::page_map& map : sample.processes) {
    // Every node with memory has a row, even if it holds nothing: a series has no gaps.
    std::map<int, std::uint64_t> pages;
    for (const memory_node& node : on.nodes) {
      if (node.memory_bytes != 0) {
        pages[to_int(node.id)] = 0;
      }
    }
    std::uint64_t unknown = 0;
    for (const observe::area& a : map.areas) {
      unknown += a.unknown;
      for (const observe::area::share& s : a.per_node) {
        pages[to_int(s.node)] += s.pages;
      }
    }
    const auto add = [&](const std::string& node, std::uint64_t count, int number) {
      const auto on_node = [&](const observe::thread_facts& t) { return to_int(t.node) == number; };
      const auto threads = std::ranges::count_if(map.threads, on_node);
      const auto active =
          std::ranges::count_if(map.threads, [&](const auto& t) { return on_node(t) && t.active; });
      text += std::string(time.data()) + "," + std::to_string(map.pid) + "," + node + "," +
              std::to_string(count * map.page_bytes) + "," + std::to_string(threads) + "," +
              std::to_string(active) + "\n";
    };
    for (const auto& [node, count] : pages) {
      add(std::to_string(node), count, node);
    }
    if (unknown != 0) {
      add("unknown", unknown, -1);
    }
  }
  return text;
}

} // namespace nodewise::cli
