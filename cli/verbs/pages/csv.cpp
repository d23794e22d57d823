// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "cli/verbs/pages/flags.hpp"
#include "cli/verbs/pages/view.hpp"
#include "report/csv.hpp"

namespace nodewise::cli {

namespace {

/// The rows of one process at one time.
std::string process_rows(double time_s, const observe::page_map& map, const machine& on) {
  // Every node with memory has a row, even if it holds nothing: a series has no gaps.
  std::map<node_id, std::uint64_t> pages;
  for (const memory_node& node : on.nodes) {
    if (node.memory_bytes != 0) {
      pages[node.id] = 0;
    }
  }
  std::uint64_t unknown = 0;
  for (const observe::area& each : map.areas) {
    unknown += each.unknown;
    for (const observe::area::share& s : each.per_node) {
      pages[s.node] += s.pages;
    }
  }
  std::string text;
  const auto add = [&](const std::string& name, std::uint64_t count, node_id number) {
    const auto threads = std::ranges::count(map.threads, number, &observe::thread_facts::node);
    const auto active = std::ranges::count_if(
        map.threads, [&](const auto& thread) { return thread.node == number && thread.active; });
    text += report::csv_line(
        {fmt::format("{:.3f}", time_s), map.pid, name, count * map.page_bytes, threads, active});
  };
  for (const auto& [node, count] : pages) {
    add(fmt::format("{}", node), count, node);
  }
  if (unknown != 0) {
    add("unknown", unknown, unknown_node);
  }
  return text;
}

} // namespace

std::string pages_csv(const pages_result& what) {
  std::string text = what.continued
                         ? ""
                         : report::csv_line({"time_s", "process", "node", "resident_bytes",
                                             "threads", "active_threads"});
  for (const pages_sample& sample : what.samples) {
    const std::chrono::duration<double> since = sample.when.time_since_epoch();
    for (const observe::page_map& map : sample.processes) {
      text += process_rows(since.count(), map, what.on);
    }
  }
  return text;
}

} // namespace nodewise::cli
