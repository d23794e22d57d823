// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/pages/flags.hpp"
#include "cli/verbs/pages/view.hpp"
#include "report/openmetrics.hpp"

namespace nodewise::cli {

namespace {

using observe::area;
using observe::page_map;
using report::exposition;
using report::metric_family;
using report::metric_labels;
using enum report::metric_type;

constexpr metric_family sample_time{"nodewise_sample_timestamp_seconds", gauge, "seconds",
                                    "Time of the sample, since 1970."};
constexpr metric_family node_bytes{"nodewise_node_memory_bytes", gauge, "bytes",
                                   "Memory that the node has."};
constexpr metric_family memory{
    "nodewise_process_memory_bytes", gauge, "bytes",
    "Memory of the process on the node, of all mappings, also shared ones and files."};
constexpr metric_family unknown_memory{
    "nodewise_process_unknown_memory_bytes", gauge, "bytes",
    "Memory of the process whose node the kernel did not report; it is not part of "
    "nodewise_process_memory_bytes."};
constexpr metric_family zero_memory{
    "nodewise_process_zero_page_bytes", gauge, "bytes",
    "Memory that was read but never written: the kernel's shared page of zeros, on no node."};
constexpr metric_family huge_memory{"nodewise_process_huge_page_bytes", gauge, "bytes",
                                    "Memory of the process in transparent huge pages."};
constexpr metric_family mapped_memory{"nodewise_process_mapped_bytes", gauge, "bytes",
                                      "Size of all mappings, also of pages not in memory."};
constexpr metric_family category_memory{
    "nodewise_process_category_bytes", gauge, "bytes",
    "Memory of the process on the node in the categories of numastat -p."};
constexpr metric_family near_memory{
    "nodewise_process_near_memory_bytes", gauge, "bytes",
    "Memory on nodes where at least one thread of the process last ran; with threads=active, only "
    "threads that ran since the sample before count."};
constexpr metric_family far_memory{
    "nodewise_process_far_memory_bytes", gauge, "bytes",
    "Memory on nodes where no thread of the process last ran; with threads=active, only threads "
    "that ran since the sample before count."};
constexpr metric_family near_share{
    "nodewise_process_near_ratio", gauge, "ratio",
    "Near memory divided by near and far memory together, from 0 to 1."};
constexpr metric_family threads_there{
    "nodewise_process_threads", gauge, {}, "Threads that last ran on the node."};
constexpr metric_family active_there{
    "nodewise_process_active_threads",
    gauge,
    {},
    "Threads on the node that run now or ran since the sample before."};
constexpr metric_family threads_unknown{
    "nodewise_process_unknown_threads", gauge, {}, "Threads whose node is unknown."};
constexpr metric_family moved{
    "nodewise_process_moved_pages", counter, "pages",
    "Base pages that a sample found on another node than the sample before, at the same address."};
constexpr metric_family query_time{"nodewise_process_query_seconds", gauge, "seconds",
                                   "Time that the queries of the pages took."};
constexpr metric_family how_asked{
    "nodewise_process_query",
    gauge,
    {},
    "Always 1; the labels say how the kernel was asked, and whether it reported single pages."};

/// A process with its sums.
struct process_sums {
  explicit process_sums(const page_map& of, const machine& on) : map(of) {
    // Every node with memory has a metric, even if it holds nothing: a series has no gaps.
    for (const memory_node& node : on.nodes) {
      if (node.memory_bytes != 0) {
        on_node[node.id] = 0;
      }
    }
    huge = 0;
    for (const area& each : of.areas) {
      unknown += each.unknown * of.page_bytes;
      zeros += each.zeros * of.page_bytes;
      mapped += each.pages * of.page_bytes;
      huge = huge && each.huge_bytes ? std::optional(*huge + *each.huge_bytes) : std::nullopt;
      for (const area::share& s : each.per_node) {
        on_node[s.node] += s.pages * of.page_bytes;
      }
    }
  }

  [[nodiscard]] metric_labels labels(const metric_labels& more = {}) const {
    metric_labels all = {{"pid", std::to_string(map.pid)}, {"command", short_command()}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  const page_map& map;
  std::map<node_id, std::uint64_t> on_node; ///< bytes
  std::uint64_t unknown = 0;
  std::uint64_t zeros = 0;
  std::uint64_t mapped = 0;
  std::optional<std::uint64_t> huge; ///< nullopt if one mapping's is unknown

 private:
  /// A command line may have megabytes, and every metric repeats it.
  [[nodiscard]] std::string short_command() const {
    constexpr std::size_t longest = 120;
    const std::string_view shown = cut(map.command, longest);
    return std::string(shown) + (shown.size() < map.command.size() ? "..." : "");
  }
};

using processes = std::vector<process_sums>;

std::string node_text(node_id node) {
  return fmt::format("{}", node);
}

void add_memory(const processes& all, exposition& to) {
  to.begin(memory);
  for (const process_sums& each : all) {
    for (const auto& [node, bytes] : each.on_node) {
      to.add(each.labels({{"node", node_text(node)}}), bytes);
    }
  }
  constexpr std::array sums = {std::pair{&unknown_memory, &process_sums::unknown},
                               std::pair{&zero_memory, &process_sums::zeros},
                               std::pair{&mapped_memory, &process_sums::mapped}};
  for (const auto& [family, sum] : sums) {
    to.begin(*family);
    for (const process_sums& each : all) {
      to.add(each.labels(), each.*sum);
    }
  }
  to.begin(huge_memory);
  for (const process_sums& each : all) {
    if (each.huge) {
      to.add(each.labels(), *each.huge);
    }
  }
  to.begin(category_memory);
  for (const process_sums& each : all) {
    for (const observe::memory_totals& t : each.map.totals) {
      for (const auto& [node, bytes] : t.bytes) {
        to.add(each.labels({{"category", std::string(t.category)}, {"node", std::to_string(node)}}),
               bytes);
      }
    }
  }
}

struct near_and_far {
  std::string threads; ///< "all" or "active"
  std::uint64_t near = 0;
  std::uint64_t far = 0;
};

/// Nothing for threads of which no node is known.
std::vector<near_and_far> near_and_far_of(const process_sums& of) {
  std::vector<near_and_far> found;
  for (const bool only_active : {false, true}) {
    const node_set nodes = nodes_of(of.map.threads, only_active);
    if (nodes.empty()) {
      continue;
    }
    near_and_far next{only_active ? "active" : "all"};
    for (const auto& [node, bytes] : of.on_node) {
      (nodes.contains(node) ? next.near : next.far) += bytes;
    }
    found.push_back(std::move(next));
  }
  return found;
}

void add_distances(const processes& all, exposition& to) {
  const auto add_each = [&](const metric_family& family, auto add) {
    to.begin(family);
    for (const process_sums& each : all) {
      for (const near_and_far& sums : near_and_far_of(each)) {
        add(each.labels({{"threads", sums.threads}}), sums);
      }
    }
  };
  add_each(near_memory, [&](const auto& labels, const auto& sums) { to.add(labels, sums.near); });
  add_each(far_memory, [&](const auto& labels, const auto& sums) { to.add(labels, sums.far); });
  add_each(near_share, [&](const auto& labels, const near_and_far& sums) {
    if (const std::uint64_t located = sums.near + sums.far; located != 0) {
      to.add(labels, static_cast<double>(sums.near) / static_cast<double>(located));
    }
  });
}

void add_threads(const processes& all, exposition& to) {
  for (const metric_family* const family : {&threads_there, &active_there}) {
    to.begin(*family);
    for (const process_sums& each : all) {
      std::map<node_id, std::size_t> counts;
      for (const auto& [node, bytes] : each.on_node) {
        counts[node] = 0;
      }
      for (const observe::thread_facts& thread : each.map.threads) {
        counts[thread.node] += thread.active || family == &threads_there ? 1U : 0U;
      }
      counts.erase(unknown_node);
      for (const auto& [node, count] : counts) {
        to.add(each.labels({{"node", node_text(node)}}), count);
      }
    }
  }
  to.begin(threads_unknown);
  for (const process_sums& each : all) {
    to.add(each.labels(),
           std::ranges::count(each.map.threads, unknown_node, &observe::thread_facts::node));
  }
}

void add_queries(const processes& all, exposition& to) {
  to.begin(moved);
  for (const process_sums& each : all) {
    if (each.map.moved) {
      to.add(each.labels(), *each.map.moved);
    }
  }
  to.begin(query_time);
  for (const process_sums& each : all) {
    to.add(each.labels(), each.map.query_seconds);
  }
  to.begin(how_asked);
  for (const process_sums& each : all) {
    const bool reduced = each.map.how == observe::method::numa_maps;
    to.add(each.labels({{"method", std::string(to_string(each.map.how))},
                        {"resolution", reduced ? "reduced" : "page"}}),
           1);
  }
}

std::string sample_text(const pages_sample& sample, const machine& on) {
  processes all;
  std::set<int> pids; // a process may be named twice, a metric may not
  for (const page_map& map : sample.processes) {
    if (pids.insert(map.pid).second) {
      all.emplace_back(map, on);
    }
  }
  exposition made;
  made.begin(sample_time);
  made.add({}, std::chrono::duration<double>(sample.when.time_since_epoch()).count());
  made.begin(node_bytes);
  for (const memory_node& node : on.nodes) {
    if (node.memory_bytes != 0) {
      made.add({{"node", node_text(node.id)}}, node.memory_bytes);
    }
  }
  add_memory(all, made);
  add_distances(all, made);
  add_threads(all, made);
  add_queries(all, made);
  return made.text();
}

} // namespace

std::string pages_openmetrics(const pages_result& what) {
  std::string text;
  for (const pages_sample& sample : what.samples) {
    text += sample_text(sample, what.on);
  }
  return text.empty() ? exposition().text() : text;
}

} // namespace nodewise::cli
