// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/jobs/host_picture.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "report/style.hpp"
#include "survey/launcher.hpp"
#include "survey/memory.hpp"
#include "survey/threads.hpp"

namespace nodewise::cli {

namespace {

using survey::host_machine;
using survey::rank_record;
using survey::surveyed_host;

constexpr std::size_t most_ranks_named = 6;
constexpr std::size_t most_cores = 48; // of a node, in its picture

/// '.' no thread may run on the core, '#' as many bound to it as it has hardware threads, or fewer;
/// 'x' more; '-' only threads that may also run elsewhere.
std::string cores_picture(const std::vector<cpu_set>& cores, const std::vector<cpu_set>& masks,
                          const host_machine::node& node) {
  std::string picture;
  for (const cpu_set& core : cores) {
    if (!node.cpus.intersects(core)) {
      continue;
    }
    std::size_t bound = 0;
    bool reached = false;
    for (const cpu_set& mask : masks) {
      reached = reached || mask.intersects(core);
      bound += !mask.empty() && core.includes(mask) ? 1U : 0U;
    }
    picture += bound > core.size() ? 'x' : bound != 0 ? '#' : reached ? '-' : '.';
  }
  return picture.size() > most_cores
             ? fmt::format("{} +{}", picture.substr(0, most_cores), picture.size() - most_cores)
             : picture;
}

/// A row of the table of hosts: a node with the ranks and the memory on it.
std::vector<std::string> node_row(const surveyed_host& host, const std::vector<cpu_set>& masks,
                                  const host_machine::node& node) {
  std::vector<int> ranks;
  std::size_t threads = 0;
  std::uint64_t bytes = 0;
  std::uint64_t own = 0;
  for (const rank_record* const rank : host.ranks) {
    std::size_t here = 0;
    for (const cpu_set& mask : survey::masks_of(*rank)) {
      here += mask.intersects(node.cpus) ? 1U : 0U;
    }
    threads += here;
    if (here != 0) {
      ranks.push_back(rank->rank);
    }
    const auto found = rank->bytes.find(node.id);
    const std::uint64_t its = found == rank->bytes.end() ? 0 : found->second;
    bytes += its;
    own += survey::thread_nodes(*rank, *host.hardware).contains(node.id) ? its : 0;
  }
  const std::string share =
      bytes == 0 || node.cpus.empty()
          ? "-"
          : report::format_percent(static_cast<double>(own) / static_cast<double>(bytes));
  return {std::to_string(to_int(node.id)),
          node.cpus.empty() ? "no processors" : cores_picture(host.hardware->cores, masks, node),
          ranks.empty() ? "-" : survey::ranks_text(ranks, most_ranks_named),
          std::to_string(threads),
          bytes == 0 ? "-" : report::format_bytes(bytes),
          share};
}

/// Where memory is beside the threads, roughly: hosts differ a little without a reason.
std::string memory_key(const surveyed_host& host) {
  std::string key;
  for (const rank_record* const rank : host.ranks) {
    const survey::memory_use use = survey::memory_of(*rank, *host.hardware);
    key += use.is_away() ? fmt::format("a{}", to_int(use.fullest)) : "-";
  }
  return key;
}

} // namespace

std::vector<std::vector<std::string>> host_rows(const surveyed_host& host) {
  std::vector<cpu_set> masks; // of all workers
  for (const rank_record* const rank : host.ranks) {
    for (cpu_set& mask : survey::masks_of(*rank)) {
      masks.push_back(std::move(mask));
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (const host_machine::node& node : host.hardware->nodes) {
    rows.push_back(node_row(host, masks, node));
  }
  return rows;
}

std::vector<host_pattern> patterns_of(const survey::job& of) {
  std::vector<host_pattern> all;
  std::map<std::string, std::size_t> known;
  for (const surveyed_host& host : of.hosts) {
    const std::string memory = host.hardware == nullptr ? "" : memory_key(host);
    const auto [found, is_new] =
        known.emplace(fmt::format("{}/{}", survey::layout_key(host), memory), all.size());
    if (is_new) {
      all.push_back({&host, {}});
    }
    all[found->second].names.push_back(host.name);
  }
  std::ranges::sort(all, [](const host_pattern& a, const host_pattern& b) {
    return a.names.size() != b.names.size() ? a.names.size() > b.names.size()
                                            : survey::is_before(a.first->name, b.first->name);
  });
  return all;
}

} // namespace nodewise::cli
